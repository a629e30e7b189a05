import type { TrafficLine } from '../driver.ts';
import type { HidHandle } from './system.ts';

/** The same handle, with every report that passes told to `traffic`. */
export function tapped(handle: HidHandle, keyId: string, traffic: (line: TrafficLine) => void): HidHandle {
  const tell = (direction: 'out' | 'in', bytes: Uint8Array): Uint8Array => {
    traffic({ driver: 'hid', keyId, direction, bytes });
    return bytes;
  };
  return {
    write: (report, signal) => handle.write(tell('out', report), signal),
    read: async signal => tell('in', await handle.read(signal)),
    sendFeature: (report, signal) => handle.sendFeature(tell('out', report), signal),
    getFeature: async signal => tell('in', await handle.getFeature(signal)),
    close: () => handle.close(),
  };
}
