/** How far each endpoint of a webhook has come. */
import type { ProgressRecord, WebhookChange } from '../../domain/webhook.ts';
import { Conflict } from '../commit.ts';
import type { Statements } from './statements.ts';
import type { Reads } from './tables.ts';
import type { Writes } from './writing.ts';

/** The read of a progress. */
export function webhookReads(statements: Statements): Pick<Reads, 'webhookProgress'> {
  return {
    webhookProgress(webhook) {
      const sql = 'SELECT version, progress FROM webhook_progress WHERE number = ?';
      const row = statements.get<{ version: number; progress: string }>(sql, webhook);
      return row === undefined
        ? null
        : { version: row.version, progress: JSON.parse(row.progress) as ProgressRecord['progress'] };
    },
  };
}

/** How changes of a progress are written. */
export const webhookWrites: Writes<WebhookChange['kind']> = {
  'webhook.progress': {
    check({ webhook, before }, statements) {
      const sql = 'SELECT version FROM webhook_progress WHERE number = ?';
      if ((statements.value<number>(sql, webhook) ?? 0) !== before)
        throw new Conflict(`the progress of webhook ${webhook} has another version now`);
    },
    apply({ webhook, before, progress }, _context, { statements }) {
      statements.run(
        `INSERT INTO webhook_progress (number, version, progress) VALUES (?, ?, ?)
         ON CONFLICT (number) DO UPDATE SET version = excluded.version, progress = excluded.progress`,
        webhook,
        before + 1,
        JSON.stringify(progress),
      );
      return { kind: 'done' };
    },
  },
  'webhook.forget': {
    apply({ webhook }, _context, { statements }) {
      statements.run('DELETE FROM webhook_progress WHERE number = ?', webhook);
      return { kind: 'done' };
    },
  },
};
