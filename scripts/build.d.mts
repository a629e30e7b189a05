/** Packages with native code: they are loaded from node_modules, where npm put the binary of the platform. */
export declare const natives: readonly string[];
/** Makes the program in dist/; resolves to false where it was made of these sources already. */
export declare function build(): Promise<boolean>;
