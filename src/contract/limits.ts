/** Rate limits, sizes and paging bounds. The only place where they are stated. */

/** Which window a request counts in; null where it is not limited. */
export type LimitScope = 'login' | 'query' | 'modify' | 'upload';

export interface Limit {
  readonly count: number;
  readonly seconds: number;
}

export const rateLimits: Readonly<Record<LimitScope, Limit>> = {
  login: { count: 5, seconds: 60 },
  query: { count: 100, seconds: 60 },
  modify: { count: 30, seconds: 60 },
  upload: { count: 10, seconds: 3600 },
};

const MiB = 1024 * 1024;

export const sizes = {
  /** Bytes of a JSON body. */
  body: MiB,
  batchBody: 16 * MiB,
  batchItems: 10_000,
  /** Bytes of an installer package: exactly this many are still accepted. */
  package: 2 ** 31,
  backup: 64 * MiB,
} as const;

export const paging = { page: 1, size: 20, maxSize: 100, maxPage: 1_000_000_000 } as const;

export const activationCodeDays = { min: 1, max: 3650, default: 365 } as const;

/** Seconds a token of a login, and of the local hardware service, is good for. */
export const tokenSeconds = 24 * 60 * 60;

export const passwordLength = { min: 8, max: 200 } as const;
