import type { Allowance } from '../services/limiter.ts';

export function allowanceHeaders(allowance: Allowance): Record<string, string> {
  return {
    'x-ratelimit-limit': String(allowance.limit),
    'x-ratelimit-remaining': String(allowance.remaining),
    'x-ratelimit-reset': String(allowance.resetAt),
    ...(allowance.allowed ? {} : { 'retry-after': String(allowance.retryAfter) }),
  };
}
