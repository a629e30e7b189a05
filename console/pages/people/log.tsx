/** The log of a person's source: changes that it has sent, and refused requests. */
import type { DataOf } from '../../../src/contract/define.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import { useRefresh } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActorLink } from '../../parts/item.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { fieldName } from '../../parts/setting-words.ts';
import { Table } from '../../parts/table.tsx';
import { Moment } from '../../parts/time.tsx';
import { text, people as words } from '../../text/words.ts';
import { isOfPersons } from './states.ts';

type Item = DataOf<Routes['listProvisioning']>['list'][number];

/** Entries that the page shows; `devmgr people log` has more. */
const mostEntries = 20;

const columns = {
  time: ({ at }: Item) => <Moment at={at} />,
  source: ({ source }: Item) => words.sources[source],
  what: ({ outcome }: Item) => words.log.outcome[outcome],
  fields: ({ fields }: Item) => fields.map(field => fieldName(field)).join(', '),
  reason: ({ reason }: Item) => reason,
  by: ({ actor }: Item) => <ActorLink name={actor} />,
};

/** The last entries of the log of provisioning about a person. */
export function PersonLog({ personId }: { readonly personId: string }) {
  const log = useResource(signal => call('listProvisioning', { query: { personId, size: mostEntries } }, { signal }));
  useRefresh(log.reload, isOfPersons);
  return (
    <section>
      <h2>{words.log.title}</h2>
      <Loaded from={log}>
        {({ list }) => (
          <Table
            title={words.log.title}
            columns={columns}
            heads={{ ...text.column, ...words.column, ...words.log.column }}
            rows={list}
            keyOf={({ at, outcome, fields }) => `${at} ${outcome} ${fields.join()}`}
            classes={{ fields: 'free', reason: 'free' }}
            isOneLine
          />
        )}
      </Loaded>
    </section>
  );
}
