/** The activation code of a device: a secret that is shown to those who ask for it, and not for long. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { DeviceDetail } from '../../src/contract/device-shapes.ts';
import { moment } from '../text/numbers.ts';
import { device as deviceWords, text } from '../text/words.ts';
import { Button } from './button.tsx';
import { CopyButton } from './copy.tsx';
import { lazy } from './lazy.tsx';

const QrCode = lazy(async () => (await import('./qr.tsx')).QrCode);

type DeviceCode = Pick<DeviceDetail, 'activationCode' | 'activationCodeExpiresAt'>;

const SHOWN_MS = 60_000;

/** The code with its QR code, after a click and for a minute. The registry sends none to a VIEWER. */
export function CodeSection({ device }: { readonly device: DeviceCode }) {
  const words = deviceWords.code;
  const { activationCode, activationCodeExpiresAt } = device;
  const isShown = useSignal(false);
  useEffect(() => {
    if (!isShown.value) return;
    const hide = () => (isShown.value = false);
    const timer = setTimeout(hide, SHOWN_MS);
    // A page that the browser keeps for Back must not have the code.
    addEventListener('pagehide', hide);
    return () => {
      clearTimeout(timer);
      removeEventListener('pagehide', hide);
    };
  }, [isShown.value]);
  if (activationCode === null) return null;
  return (
    <section>
      <h2>{text.column.code}</h2>
      {isShown.value ? (
        <>
          <p class="code secret">{activationCode}</p>
          <QrCode value={activationCode} label={words.qr} />
        </>
      ) : (
        <p class="hint">{words.hidden}</p>
      )}
      {activationCodeExpiresAt && <p>{words.expires(moment(activationCodeExpiresAt))}</p>}
      <p class="bar">
        <Button words={isShown.value ? words.hide : words.show} onClick={() => (isShown.value = !isShown.value)} />
        {isShown.value && <CopyButton value={activationCode} />}
      </p>
    </section>
  );
}
