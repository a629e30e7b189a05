/** Packages with native code: they are loaded from node_modules, where npm put the binary of the platform. */
export declare const natives: readonly string[];
