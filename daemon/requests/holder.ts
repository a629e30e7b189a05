/** Who holds tokens, streams and rate limits: a user, a service token, or the programs of this machine. One text for each. */
import { tokenIds } from '../../src/contract/ids.ts';

/** The holder of a user, by number. */
export const userHolder = (user: number): string => String(user);

/** The holder of a service token, by number. */
export const tokenHolder = (token: number): string => tokenIds.format(token);

/** The role LOCAL, which has no user. */
export const localHolder = 'local';
