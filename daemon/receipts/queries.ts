/** Queries about receipts. */

/** Which receipts. Times are milliseconds since 1970. */
export interface ReceiptFilter {
  readonly device?: number | undefined;
  /** Open loans that ended at this time or before, of devices that are not DEACTIVATED. */
  readonly overdueAt?: number | undefined;
  /** Overdue loans, as `overdueAt`, that were not announced. */
  readonly unannouncedAt?: number | undefined;
}
