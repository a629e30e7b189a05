/** Which events are those of a record. */
import { type AdministrationEventType, administrationEventTypes } from '../../src/contract/administration-events.ts';
import type { QueryOf } from '../../src/contract/define.ts';
import type { Notification } from '../../src/contract/events.ts';
import type { Routes } from '../../src/contract/routes.ts';

/** Events of a record. */
export interface EventSelection {
  /** Selects them for a request, perhaps with others. */
  readonly query: QueryOf<Routes['listEvents']>;
  readonly isAbout: (event: Notification) => boolean;
}

const kinds = { providerId: 'PROVIDER_', tokenId: 'TOKEN_', userId: 'USER_', webhookId: 'WEBHOOK_' } as const;
type IdName = keyof typeof kinds;

/** The changes of administration about what has these ids. The types of `single` are about the only record of their kind. */
export function changesOf(
  ids: Readonly<Partial<Record<IdName, readonly unknown[]>>>,
  single: readonly AdministrationEventType[] = [],
): EventSelection {
  const isSingle = (type: string) => single.some(each => each === type);
  const names = Object.keys(ids) as IdName[];
  const nameOf = (type: string) => names.find(name => type.startsWith(kinds[name]));
  const types = administrationEventTypes.filter(type => isSingle(type) || nameOf(type)).join();
  const isAbout = ({ type, data }: Notification) => {
    const name = nameOf(type);
    return isSingle(type) || (name !== undefined && ids[name]!.includes(data[name]));
  };
  return { query: { types }, isAbout };
}
