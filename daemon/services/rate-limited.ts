import { ApiError } from '../../src/contract/codes.ts';
import type { Allowance } from './limiter.ts';

/** 429, with the window that is spent. */
export class RateLimited extends ApiError {
  readonly allowance: Allowance;
  constructor(allowance: Allowance) {
    super(429, `too many requests; try again in ${allowance.retryAfter} s`);
    this.allowance = allowance;
  }
}
