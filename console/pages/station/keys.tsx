/** The keys in the reader, as the hardware and the registry know them. */
import type { Key } from '../../../src/contract/hardware.ts';
import { GradeBadge, StatusBadge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { DeviceLink } from '../../parts/item.tsx';
import { station as stationWords, text } from '../../text/words.ts';
import type { StationRun } from './run.ts';

/** Phases in which a key can be ignored: in the others it may be about to be bound. */
const idle = ['crowded', 'aside', 'failed', 'empty'];

/** The keys that are plugged in; nothing if none is. */
export function Keys({ run }: { readonly run: StationRun }) {
  const words = stationWords.stage;
  const { keys, ignored, phase } = run.view.value;
  const canIgnore = idle.includes(phase);
  return (
    <>
      {keys.length > 0 && (
        <ul class="events" aria-label={words.keys}>
          {keys.map(key => (
            <KeyRow key={key.keyId} attached={key} ignore={canIgnore ? () => run.ignore(key.keyId) : undefined} />
          ))}
        </ul>
      )}
      {ignored > 0 && <p class="hint">{words.ignored(ignored)}</p>}
    </>
  );
}

interface RowProps {
  readonly attached: Key;
  /** Absent while the key cannot be ignored. */
  readonly ignore?: (() => void) | undefined;
}

/** A key with its registration and its proof. For a list of the class `events`. */
export function KeyRow({ attached, ignore }: RowProps) {
  const words = stationWords.stage;
  const { serialNumber, deviceType, manufacturer, model, simulated, device, proof } = attached;
  const name = serialNumber ?? words.unreadable;
  const about = [text.type[deviceType], manufacturer, model, simulated && words.simulated].filter(Boolean);
  return (
    <li>
      <span>
        <strong>{name}</strong> <small>{about.join(' · ')}</small>
      </span>
      {device ? (
        <span>
          <DeviceLink id={device.deviceId} /> <StatusBadge status={device.status} />
        </span>
      ) : (
        <span>{words.unregistered}</span>
      )}
      <GradeBadge grade={proof?.grade ?? 'none'} />
      {ignore && <Button words={words.ignore} onClick={ignore} aria-label={words.ignoreKey(name)} />}
    </li>
  );
}
