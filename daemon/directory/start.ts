/** The directory that persons come from: its settings, and its runs. */

import { DueWork } from '../background/due-work.ts';
import type { StartSubject } from '../http/subject.ts';
import { directoryOperations } from './routes.ts';
import { DirectorySettingsService } from './settings.ts';
import { DirectorySync } from './sync.ts';
import { DirectoryRuns } from './work.ts';

export const startDirectory: StartSubject = ({ log, stack, store, instance, now, offers: { people } }) => {
  const settings = new DirectorySettingsService({ store, sealingKey: instance.secret('directory'), now });
  const sync = new DirectorySync({ ...people!, store, settings, now });
  stack.start(new DueWork({ store, log }, new DirectoryRuns({ settings, sync, log, now })));
  return {
    operations: directoryOperations({ directorySettings: settings, directorySync: sync }),
    gauges: async () => {
      const value = await settings.failing();
      if (value === null) return {};
      return { devmgr_directory_failing: { help: 'Whether the last run of the directory failed', value } };
    },
  };
};
