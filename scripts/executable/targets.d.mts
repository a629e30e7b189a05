type Part = readonly [name: string, path: string];
/** Where the files of a platform are, by package and path. */
export declare function partsOf(platform: string): {
  readonly node: Part;
  readonly natives: Readonly<Record<string, Part>>;
};
