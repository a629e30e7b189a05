/** The license of a package by the content of its package.json: an SPDX expression. */
export declare function namedLicense(about: { readonly name: string; readonly license?: string }): string;
