/** Bounds that settings give: of stored files, and of the work of a password. */

/** Cost of an scrypt hash. */
export interface Cost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** The bounds of stored files. */
export interface FileBounds {
  /** Bytes of all files; null if only the disk bounds them. */
  readonly total: number | null;
  /** Bytes of a disk of this size that uploads leave free for the registry. */
  readonly reserve: (diskSize: number) => number;
  /** Files and bytes that a user may store in a day; null if there is no bound. */
  readonly daily: DailyBounds | null;
}

/** Files and bytes that a user may store in a day. */
export interface DailyBounds {
  readonly count: number;
  readonly bytes: number;
}
