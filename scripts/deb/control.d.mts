/** Replaces each full text of the Apache License 2.0 with a reference to Debian's copy. */
export declare function withoutCommonLicenses(text: string): string;
/** Writes the copyright file of the package into `tree`. */
export declare function writeCopyright(tree: string): Promise<void>;
