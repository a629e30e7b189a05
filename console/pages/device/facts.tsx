/** Facts about a device in the registry, and about the genuineness of a key. */
import type { ComponentChildren } from 'preact';
import { describedNames } from '../../../src/contract/device-description.ts';
import type { DeviceDetail } from '../../../src/contract/device-shapes.ts';
import type { Proof } from '../../../src/contract/proof.ts';
import { GradeBadge } from '../../parts/badge.tsx';
import { type Fact, FactList } from '../../parts/facts.tsx';
import { PersonLink } from '../../parts/item.tsx';
import { Moment } from '../../parts/time.tsx';
import { duration, grouped } from '../../text/numbers.ts';
import { text, device as words } from '../../text/words.ts';

type FactName = Exclude<keyof typeof words.facts, 'title'>;
type FactValues = Readonly<Partial<Record<FactName, ComponentChildren>>>;

/** The facts in groups, without those that the registry does not have. */
export function Facts({ device }: { readonly device: DeviceDetail }) {
  const { userId, personId, userName, userEmail, statistics } = device;
  const { totalUsageCount: uses, totalUsageDuration: seconds } = statistics;
  const time = (at: string | null) => at && <Moment at={at} />;
  const groups = {
    key: {
      serialNumber: <span class="code">{device.serialNumber}</span>,
      deviceType: text.type[device.deviceType],
      ...Object.fromEntries(describedNames.map(name => [name, device[name]])),
    },
    person: {
      user: userId && (
        <>
          <PersonLink personId={personId} name={userId} />
          {[userName, userEmail].map(part => part && part !== userId && ` · ${part}`)}
        </>
      ),
      activatedAt: time(device.activatedAt),
      lastUsedAt: time(device.lastUsedAt),
      uses: uses > 0 && (seconds > 0 ? `${grouped(uses)} · ${duration(seconds)}` : grouped(uses)),
    },
    state: {
      createdAt: time(device.createdAt),
      lockedAt: time(device.lockedAt),
      lockReason: device.lockReason,
      deactivatedAt: time(device.deactivatedAt),
      shippedAt: time(device.shippedAt),
      receivedAt: time(device.receivedAt),
      updatedAt: time(device.updatedAt),
    },
  } satisfies Readonly<Record<string, FactValues>>;
  return (
    <section class="cards">
      <h2 class="hidden">{words.facts.title}</h2>
      {(Object.entries(groups) as [keyof typeof groups, FactValues][]).map(
        ([group, facts]) =>
          Object.values(facts).some(Boolean) && (
            <section key={group}>
              <h3>{words.factGroups[group]}</h3>
              <FactList facts={Object.entries(facts).map(([name, value]) => [words.facts[name as FactName], value])} />
            </section>
          ),
      )}
    </section>
  );
}

/** The grade with its meaning, what the evidence shows, and the warnings. */
export function ProofSection({ proof }: { readonly proof: Proof | null }) {
  const { proof: proofWords } = words;
  const plain = ['model', 'serial', 'firmware', 'aaguid', 'method', 'root', 'metadataNumber'] as const;
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
            facts={[...plain.map((name): Fact => [{ ...text.column, ...proofWords }[name], proof[name]]), proved]}
          />
        </>
      ) : (
        <p class="hint">{proofWords.without}</p>
      )}
    </section>
  );
}
