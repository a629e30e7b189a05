/** The credentials of a device at providers. */
import type { CredentialItem } from '../../../src/contract/providers.ts';
import { useRefresh, useRepeat } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { FoldedSection } from '../../parts/details.tsx';
import { ActorLink, PersonLink } from '../../parts/item.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { type RecordKind, RecordTable } from '../../parts/records.tsx';
import { Moment } from '../../parts/time.tsx';
import { reporting } from '../../parts/toast.ts';
import { credentials as words } from '../../text/words.ts';
import { type NamedCredential, readCredentials } from './read-credentials.ts';

/** The section of a device. */
export const CredentialSection = ({ deviceId }: { readonly deviceId: string }) => (
  <FoldedSection title={words.title}>{() => <OfDevice deviceId={deviceId} />}</FoldedSection>
);

const kindFor = (
  deviceId: string,
): RecordKind<NamedCredential, 'provider' | 'person' | 'state' | 'made' | 'credential', 'remove'> => ({
  keyOf: ({ credentialId }) => credentialId,
  nameOf: ({ credentialId }) => credentialId,
  columns: {
    credential: ({ credentialId }) => credentialId,
    provider: ({ provider }) => <ActorLink kind="provider" name={provider} />,
    person: ({ person }) => <PersonLink name={person} />,
    state: credential => <State credential={credential} />,
    made: ({ createdAt }) => createdAt && <Moment at={createdAt} />,
  },
  rowHead: 'credential',
  classes: { made: 'minor' },
  actions: {
    remove: {
      isFor: ({ removedAt }) => removedAt === null,
      carryOut: ({ credentialId }, key) => call('removeCredential', { params: { deviceId, credentialId } }, { key }),
      isDangerous: true,
    },
  },
});

function State({ credential: { createdAt, removedAt, pending } }: { readonly credential: CredentialItem }) {
  if (removedAt !== null)
    return (
      <>
        <span class="badge">{words.state.removed}</span> <Moment at={removedAt} />
      </>
    );
  const state = !pending ? 'valid' : createdAt === null ? 'unfinished' : 'pending';
  return <span class={`badge ${pending ? 'warn' : 'good'}`}>{words.state[state]}</span>;
}

function OfDevice({ deviceId }: { readonly deviceId: string }) {
  const resource = useResource(signal => readCredentials(deviceId, signal));
  useRefresh(resource.reload, events => events.some(({ data }) => data.deviceId === deviceId));
  useRepeat(resource, list => list.some(({ createdAt, pending }) => createdAt !== null && pending));
  return (
    <Loaded from={resource}>
      {list => (
        <RecordTable
          title={words.title}
          kind={kindFor(deviceId)}
          words={words}
          records={list}
          none={words.none}
          onDone={reporting(resource.reload)}
        />
      )}
    </Loaded>
  );
}
