/** Trust of the registry: FIDO metadata and certificates. */
import type { TrustedCertificateItem, TrustList } from '../../../src/contract/trust.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { DialogButton } from '../../parts/button.tsx';
import { Digest } from '../../parts/copy.tsx';
import { ActorLink } from '../../parts/item.tsx';
import { lazyDialog } from '../../parts/lazy.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { onePage } from '../../parts/pager.tsx';
import type { RecordKind } from '../../parts/records.tsx';
import { Moment } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.ts';
import { text, trust as words } from '../../text/words.ts';

const Import = lazyDialog(async () => (await import('./dialogs.tsx')).Import);
const JudgeAgain = lazyDialog(async () => (await import('./dialogs.tsx')).JudgeAgain);

/** A certificate, or the metadata: that has `metadata` as its fingerprint. */
interface TrustRow extends Pick<TrustedCertificateItem, 'fingerprint' | 'importedBy' | 'importedAt'> {
  readonly name: string;
  readonly kind: TrustedCertificateItem['kind'] | 'metadata';
  readonly vouches: string;
  readonly until: string;
}

function rowsOf({ metadata, certificates }: TrustList): TrustRow[] {
  const rows: TrustRow[] = certificates.map(certificate => ({
    ...certificate,
    name: certificate.label ? `${certificate.label}: ${certificate.subject}` : certificate.subject,
    vouches: vouchesOf(certificate),
    until: certificate.notAfter,
  }));
  if (!metadata) return rows;
  const { number, entries, nextUpdate, ...imported } = metadata;
  const row = { fingerprint: 'metadata', kind: 'metadata', name: words.metadata(number), until: nextUpdate } as const;
  return [{ ...imported, ...row, vouches: words.models(entries) }, ...rows];
}

/** An intermediate only completes chains. */
function vouchesOf({ kind, purpose, aaguids }: TrustedCertificateItem): string {
  if (kind === 'intermediate') return words.chains(purpose);
  if (purpose === 'scp11b') return words.purpose.scp11b;
  return aaguids.length > 0 ? `FIDO: ${aaguids.join(', ')}` : words.u2f;
}

const trusted: RecordKind<TrustRow, 'name' | 'kind' | 'vouches' | 'until' | 'fingerprint' | 'by', 'remove'> = {
  keyOf: ({ fingerprint }) => fingerprint,
  nameOf: ({ name }) => name,
  columns: {
    name: ({ name }) => name,
    kind: ({ kind }) => words.kind[kind],
    vouches: ({ vouches }) => vouches,
    until: ({ until }) => text.common.day(until),
    fingerprint: ({ fingerprint, kind }) => kind !== 'metadata' && <Digest value={fingerprint} />,
    by: ({ importedBy, importedAt }) => (
      <>
        <ActorLink name={importedBy} /> <Moment at={importedAt} />
      </>
    ),
  },
  rowHead: 'name',
  classes: { kind: 'minor', by: 'minor', fingerprint: 'keep whole' },
  actions: {
    remove: {
      carryOut: ({ fingerprint }, key) => call('removeTrust', { params: { fingerprint } }, { key }),
      isDangerous: true,
    },
  },
};

/** Everything that the registry trusts, for administrators. */
export function TrustPage() {
  const list = useResource(async signal => onePage(rowsOf(await call('listTrust', {}, { signal }))));
  return (
    <ListPage
      path="trust"
      kind={trusted}
      words={words}
      list={list}
      Create={Import}
      actions={
        <DialogButton
          words={words.judge.title}
          dialog={onClose => <JudgeAgain onClose={onClose} onDone={(done = '') => toast(done)} />}
        />
      }
    />
  );
}
