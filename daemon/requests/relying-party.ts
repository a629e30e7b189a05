import { ApiError, Code } from '../../src/contract/codes.ts';

/** The site that a security key signs for. */
export interface RelyingParty {
  /** Its host name. */
  readonly id: string;
  /** Scheme, name and port of its pages. */
  readonly origin: string;
}

/** The site of a request. Refuses with 1001 if there is none: then it is the reason. */
export function requireSite(site: RelyingParty | string): RelyingParty {
  if (typeof site === 'string') throw new ApiError(Code.parameterError, site);
  return site;
}
