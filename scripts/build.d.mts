/** Packages with native code: they are loaded from node_modules, where npm put the binary of the platform. */
export declare const natives: readonly string[];
/** Makes the program in dist/; resolves to false if it was already built from these sources. */
export declare function build(): Promise<boolean>;
