/** How requests are sent, by the clients of the command line or of the console. */
import type { RouteName } from '../contract/endpoints.ts';
import type { Data, Input } from '../contract/routes.ts';

/** Sends a request. `id`: the idempotency key of a write; null or absent for a new one. */
export type Send = <N extends RouteName>(operation: N, input: Input<N>, id?: string | null) => Promise<Data<N>>;

/** The first value of `read` that is not null; null once the time has passed. */
export type Poll = <T>(
  read: () => Promise<T | null>,
  options: { readonly everyMs: number; readonly forMs: number },
) => Promise<T | null>;
