/** The keys of a system of the tests, as the daemon without a registry has them. */
import { pino } from 'pino';
import { AttachedKeys } from '../../daemon/hardware/attached-keys.ts';
import { createHidDriver } from '../../drivers/hid/index.ts';
import type { FakeHid } from './fake-hid.ts';

/** They are to be started and stopped. No registry knows them. */
export const attachedTo = (system: FakeHid): AttachedKeys =>
  new AttachedKeys({
    drivers: [createHidDriver({ system })],
    store: { devicesBySerial: async () => new Map() } as never,
    hub: { publish: () => {} },
    now: Date.now,
    log: pino({ level: 'silent' }),
  });
