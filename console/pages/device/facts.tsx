/** Facts about a device in the registry, and about the genuineness of a key. */
import { CardSim, Usb } from 'lucide';
import type { ComponentChildren } from 'preact';
import { describedNames } from '../../../src/contract/device-description.ts';
import type { DeviceDetail } from '../../../src/contract/device-shapes.ts';
import type { Proof } from '../../../src/contract/proof.ts';
import { GradeBadge } from '../../parts/badge.tsx';
import { modelOf } from '../../parts/device-columns.tsx';
import { type Fact, FactList } from '../../parts/facts.tsx';
import { Icon } from '../../parts/icon.tsx';
import { PersonLink } from '../../parts/item.tsx';
import { Moment } from '../../parts/time.tsx';
import { duration, grouped } from '../../text/numbers.ts';
import { text, device as words } from '../../text/words.ts';

type FactName = keyof typeof words.facts;
type FactValues = Readonly<Partial<Record<FactName, ComponentChildren>>>;

const drawings = { UKEY: Usb, SIMKEY: CardSim } as const;

/** What and whose the key is, and the other facts that the registry has. */
export function Facts({ device }: { readonly device: DeviceDetail }) {
  const { userId, personId, userName, userEmail, statistics, deviceType, manufacturer, model } = device;
  const { totalUsageCount: uses, totalUsageDuration: seconds } = statistics;
  const time = (at: string | null) => at && <Moment at={at} />;
  const facts = {
    serialNumber: <span class="code">{device.serialNumber}</span>,
    user: userId && (
      <>
        <PersonLink personId={personId} name={userId} />
        {[userName, userEmail].map(part => part && part !== userId && ` · ${part}`)}
      </>
    ),
    lockReason: device.lockReason,
    ...Object.fromEntries(
      describedNames.filter(name => name !== 'manufacturer' && name !== 'model').map(name => [name, device[name]]),
    ),
    createdAt: time(device.createdAt),
    activatedAt: time(device.activatedAt),
    shippedAt: time(device.shippedAt),
    receivedAt: time(device.receivedAt),
    lockedAt: time(device.lockedAt),
    deactivatedAt: time(device.deactivatedAt),
    lastUsedAt: time(device.lastUsedAt),
    uses: uses > 0 && (seconds > 0 ? `${grouped(uses)} · ${duration(seconds)}` : grouped(uses)),
    updatedAt: time(device.updatedAt),
  } satisfies FactValues;
  return (
    <div class="cards">
      <section class="identity">
        <Icon of={drawings[deviceType]} />
        <h2>
          {modelOf(manufacturer ?? '', model ?? '')} <span class="hint">{text.type[deviceType]}</span>
        </h2>
        <FactList facts={Object.entries(facts).map(([name, value]) => [words.facts[name as FactName], value])} />
      </section>
    </div>
  );
}

/** The grade with its meaning, what the evidence shows, and the warnings. */
export function ProofSection({ proof }: { readonly proof: Proof | null }) {
  const { proof: proofWords } = words;
  const plain = ['model', 'serial', 'firmware', 'aaguid', 'method', 'root', 'metadataNumber'] as const;
  // The grade states what a key claims.
  const shown = proof && { ...proof, method: proof.method === 'claims' ? null : proof.method };
  const proved: Fact = [proofWords.provedAt, proof?.provedAt && <Moment at={proof.provedAt} />];
  return (
    <section>
      <h2>{text.column.proof}</h2>
      {proof ? (
        <>
          <p>
            <GradeBadge grade={proof.grade} /> {proofWords.grades[proof.grade]}
          </p>
          {proof.warnings.length > 0 && (
            <ul class="warnings" aria-label={proofWords.warnings}>
              {proof.warnings.map(warning => (
                <li key={warning}>{warning}</li>
              ))}
            </ul>
          )}
          <FactList
            facts={[...plain.map((name): Fact => [{ ...text.column, ...proofWords }[name], shown?.[name]]), proved]}
          />
        </>
      ) : (
        <p class="hint">{proofWords.without}</p>
      )}
    </section>
  );
}
