/** What the registry knows of a device. */
import type { ComponentChildren } from 'preact';
import { describedNames } from '../../../src/contract/device-description.ts';
import type { DeviceDetail } from '../../../src/contract/device-shapes.ts';
import { Moment } from '../../parts/time.tsx';
import { grouped } from '../../text/numbers.ts';
import { dictionary, text } from '../../text/text.ts';

const deviceWords = dictionary('device');

/** The facts, without those that the registry does not have. */
export function Facts({ device }: { readonly device: DeviceDetail }) {
  const words = deviceWords.value.facts;
  const { userId, userName, userEmail, statistics } = device;
  const user = [userId, userName, userEmail].filter((part, i, all) => part && all.indexOf(part) === i).join(' · ');
  const times = ['createdAt', 'activatedAt', 'lastUsedAt', 'lockedAt', 'deactivatedAt', 'updatedAt'] as const;
  return (
    <section>
      <h2>{words.title}</h2>
      <dl class="facts">
        <Fact name={words.serialNumber}>
          <span class="code">{device.serialNumber}</span>
        </Fact>
        <Fact name={words.deviceType}>{text.value.type[device.deviceType]}</Fact>
        {describedNames.map(name => (
          <Fact key={name} name={words[name]}>
            {device[name]}
          </Fact>
        ))}
        <Fact name={words.user}>{user}</Fact>
        <Fact name={words.lockReason}>{device.lockReason}</Fact>
        {times.map(name => (
          <Fact key={name} name={words[name]}>
            {device[name] && <Moment at={device[name]} />}
          </Fact>
        ))}
        <Fact name={words.uses}>{statistics.totalUsageCount ? grouped(statistics.totalUsageCount) : null}</Fact>
      </dl>
    </section>
  );
}

/** A fact with its name. Draws nothing without a value. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  if (children === null || children === undefined || children === '') return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
