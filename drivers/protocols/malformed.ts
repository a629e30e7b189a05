/** The only error that the readers of CBOR, DER and other formats throw: the input is invalid. */
export class MalformedError extends Error {
  override name = 'MalformedError';
  /** Part that could not be read, for example `CBOR` or `certificate`. */
  readonly format: string;

  constructor(format: string, problem: string, options?: ErrorOptions) {
    super(`${format}: ${problem}`, options);
    this.format = format;
  }
}
