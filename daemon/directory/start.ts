/** The directory that persons come from: its settings, and its runs. */
import { DueWork } from '../background/due-work.ts';
import { untilClosed } from '../http/operation.ts';
import type { StartSubject } from '../http/subject.ts';
import { DirectorySettingsService } from './settings.ts';
import { DirectorySync } from './sync.ts';
import { DirectoryRuns } from './work.ts';

export const startDirectory: StartSubject = ({ log, stack, store, instance, now, offers: { people } }) => {
  const settings = new DirectorySettingsService({ store, sealingKey: instance.secret('directory'), now });
  const sync = new DirectorySync({ ...people!, store, settings, now });
  stack.start(new DueWork({ store, log }, new DirectoryRuns({ settings, sync, log, now })));
  return {
    operations: {
      showDirectory: () => settings.show(),
      setDirectory: ({ context, body }) => settings.set(context, body),
      testDirectory: ({ reply }) => settings.test(untilClosed(reply)),
      syncDirectory: ({ context, body, reply }) => sync.run({ isAll: true, ...body, context }, untilClosed(reply)),
    },
    gauges: async () => {
      const value = await settings.failing();
      if (value === null) return {};
      return { devmgr_directory_failing: { help: 'Whether the last run of the directory failed', value } };
    },
  };
};
