/** Rules for the changes of applications and backups. */
import { ofDevice } from '../devices/rules.ts';
import { devices } from '../devices/tables.ts';
import { Conflict } from '../store/commit.ts';
import { adding, type ChangeRules, done } from '../store/write/rule.ts';
import type { AppChange } from './app.ts';
import type { BackupChange } from './backup.ts';
import { apps, backups } from './tables.ts';

export const fileChanges: ChangeRules<(AppChange | BackupChange)['kind']> = {
  'app.add': adding(apps, ({ app }) => app),
  'backup.add': {
    needs: ({ backup }, wanted) => ofDevice.needs(backup, wanted),
    check: (draft, { backup }) => ofDevice.check(draft, backup),
    apply(draft, { backup, entry }, context) {
      const { at } = context;
      const device = draft.of(devices).get(backup.device)!;
      const { number } = draft.add(backups, number => ({ ...backup, number, createdAt: at })).record;
      const { backupCount, version } = device;
      draft.of(devices).change({ ...device, backupCount: backupCount + 1, lastBackupAt: at, version: version + 1 });
      draft.enter(context, entry, backup.device, number);
      return { kind: 'added', number, version: version + 1 };
    },
  },
  'backup.restore': {
    needs: ({ backup }, wanted) => wanted.add(backups.byKey, backup),
    check(draft, { device, backup }) {
      if (draft.of(backups).get(backup)?.device !== device)
        throw new Conflict(`device ${device} has no backup ${backup}`);
    },
    apply(draft, { device, backup, entry }, context) {
      draft.enter(context, entry, device, backup);
      return done;
    },
  },
};
