import type { Bindings } from '../http/bindings.ts';
import { untilClosed } from '../http/operation.ts';
import type { DirectorySettingsService } from './settings.ts';
import type { DirectorySync } from './sync.ts';

/** The services of the directory. */
interface DirectoryServices {
  readonly directorySettings: DirectorySettingsService;
  readonly directorySync: DirectorySync;
}

/** The directory that persons come from. */
export const directoryOperations = (to: DirectoryServices): Bindings => ({
  showDirectory: () => to.directorySettings.show(),
  setDirectory: ({ context, body }) => to.directorySettings.set(context, body),
  testDirectory: ({ reply }) => to.directorySettings.test(untilClosed(reply)),
  syncDirectory: ({ context, body, reply }) =>
    to.directorySync.run({ isAll: true, ...body, context }, untilClosed(reply)),
});
