/** The keys in the reader, as the hardware and the registry know them. */
import type { Key } from '../../../src/contract/hardware.ts';
import { GradeBadge, StatusBadge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import { DeviceLink } from '../../parts/item.tsx';
import { station as stationWords, text } from '../../text/words.ts';
import type { StationRun } from './run.ts';

/** Phases in which a key can be ignored: in the others it may be about to be bound. */
const idle = ['crowded', 'aside', 'failed', 'empty'];

interface KeysProps {
  readonly run: StationRun;
  /** Gives a key that reports no serial number the one that is printed on it. */
  readonly number: (key: Key, printed: string) => Promise<void>;
}

/** The keys that are plugged in; nothing if none is. */
export function Keys({ run, number }: KeysProps) {
  const words = stationWords.stage;
  const { keys, ignored, phase } = run.view.value;
  const canIgnore = idle.includes(phase);
  return (
    <>
      {keys.length > 0 && (
        <ul class="events" aria-label={words.keys}>
          {keys.map(key => (
            <KeyRow
              key={key.keyId}
              attached={key}
              ignore={canIgnore ? () => run.ignore(key.keyId) : undefined}
              number={printed => number(key, printed)}
            />
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
  /** Gives a key that reports no serial number the one that is printed on it. Absent where keys are only shown. */
  readonly number?: (printed: string) => Promise<void>;
}

/** A key with its registration and its proof. For a list of the class `events`. */
export function KeyRow({ attached, ignore, number }: RowProps) {
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
      {number && serialNumber === null && deviceType === 'UKEY' && !simulated && <NumberForm number={number} />}
      {ignore && <Button words={words.ignore} onClick={ignore} aria-label={words.ignoreKey(name)} />}
    </li>
  );
}

/** Scanned or typed twice: a wrong digit is the number of another key. */
function NumberForm({ number }: Required<Pick<RowProps, 'number'>>) {
  const words = stationWords.stage;
  const { printed, first } = useEntries<{ printed: string; first: string | null }>({ printed: '', first: null });
  const submit = (event: Event) => {
    event.preventDefault();
    const entered = printed.value.trim();
    printed.value = '';
    if (first.value === null) first.value = entered || null;
    else if (first.value === entered) void number(entered);
    else first.value = null;
  };
  return (
    <form onSubmit={submit}>
      <Field label={first.value === null ? words.printed : words.printedAgain} entry={printed} class="code" />
      <Button words={words.usePrinted} type="submit" />
    </form>
  );
}
