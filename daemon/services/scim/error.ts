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

  constructor(status: number, scimType: ScimType | null, detail: string) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

/** The request is wrong: HTTP 400. */
export const badRequest = (scimType: ScimType, detail: string): ScimError => new ScimError(400, scimType, detail);

/** The body of the response to an error. */
export const errorBody = (status: number, scimType: ScimType | null, detail: string): object => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
  status: String(status),
  ...(scimType === null ? {} : { scimType }),
  detail,
});
