/** Errors of SCIM 2.0 (RFC 7644, section 3.12). */

/** Keywords of the standard. */
type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue';

/** A refusal of a request. */
export class ScimError extends Error {
  /** HTTP status. */
  readonly status: number;
  readonly scimType: ScimType | null;

  /** The value that cannot be stored; null if it is not one value. */
  readonly field: string | null;

  constructor(status: number, scimType: ScimType | null, detail: string, field: string | null = null) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
    this.field = field;
  }
}

/** The request is wrong: HTTP 400. */
export const badRequest = (scimType: ScimType, detail: string, field: string | null = null): ScimError =>
  new ScimError(400, scimType, detail, field);

/** The body of the response to an error. */
export const errorBody = (status: number, scimType: ScimType | null, detail: string): object => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
  status: String(status),
  ...(scimType === null ? {} : { scimType }),
  detail,
});
