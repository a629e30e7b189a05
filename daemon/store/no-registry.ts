import { StoreFailure } from './commit.ts';
import type { CommitNotice, Store } from './store.ts';

/** What the parts of a station ask of a store. */
type StationStore = Pick<
  Store,
  | 'user'
  | 'response'
  | 'device'
  | 'devicesBySerial'
  | 'events'
  | 'lastEventId'
  | 'onCommit'
  | 'behind'
  | 'commit'
  | 'health'
>;

/** The store of a daemon without a registry: it has no records and takes none. */
export const noRegistry: StationStore = {
  user: async () => null,
  response: async () => null,
  device: async () => null,
  devicesBySerial: async () => new Map(),
  events: async () => [],
  lastEventId: async () => 0,
  onCommit: (_listener: (notice: CommitNotice) => void) => () => {},
  behind: () => 0,
  commit: async () => {
    throw new StoreFailure('a station has no registry');
  },
  health: async () => ({ ready: true, detail: 'a station has no registry' }),
};
