/** Names of the persons of devices. */
import { personBounds } from '../../../src/contract/limits.ts';
import { personKey } from '../../domain/person.ts';
import type { Store } from '../../store/store.ts';
import type { Caller } from '../context.ts';

/** Names by user name; a user name without a person is left out. */
type Names = ReadonlyMap<string, string | null>;

const none: Names = new Map();

/**
 * Returns a function that reads the names of the persons of some devices. Each call reads them, because a registry can have more than fit in memory.
 * A VIEWER gets none, and in a registry without persons nothing is read.
 */
export async function personNames(
  store: Pick<Store, 'people'>,
  { role }: Caller,
): Promise<(devices: readonly { readonly userId: string | null }[]) => Promise<Names>> {
  const window = { descending: false, offset: 0 };
  if (role === 'VIEWER' || (await store.people({ after: 0, ...window, limit: 1 })).total === 0) return async () => none;
  return async devices => {
    const userIds = new Set(devices.flatMap(({ userId }) => userId ?? []));
    const keys = [...new Set([...userIds].map(personKey))];
    const names = new Map<string, string | null>();
    for (let at = 0; at < keys.length; at += personBounds.named) {
      const userKeys = keys.slice(at, at + personBounds.named);
      const { rows } = await store.people({ userKeys, after: 0, ...window, limit: userKeys.length });
      for (const { userName, name } of rows) names.set(userName, name);
    }
    return names;
  };
}
