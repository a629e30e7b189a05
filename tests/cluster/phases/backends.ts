/** Backends that are cancelled or terminated while their COMMIT waits for the synchronous standby. */
import type { Cluster } from '../cluster.ts';
import { until } from '../waiting.ts';
import { replaced } from './primary.ts';

/** Half a second is longer than a standby takes that is not cut off. */
const waiting = `FROM pg_stat_activity WHERE usename = 'devmgr' AND wait_event = 'SyncRep'
  AND clock_timestamp() - query_start > interval '500 ms'`;

/**
 * The standby is cut off, so that commits wait. Every other time the primary is lost right after that: what it has shown without its
 * standby is gone then, and must not have been acknowledged.
 */
export async function endWaitingBackend(cluster: Cluster, i: number): Promise<string> {
  const { chance, databases } = cluster;
  const { leader, standby } = await databases.whole();
  const how = i % 2 === 0 ? 'pg_cancel_backend' : 'pg_terminate_backend';
  const isLost = i % 4 >= 2;
  leader.machine.cut(standby.machine);
  try {
    await until('a commit that waits for the standby', 30, async () => {
      const rows = await databases.query(`SELECT ${how}(pid) ${waiting}`, 'devmgr', leader);
      return rows.length > 0;
    });
    await chance.pause(0, 2000);
    if (isLost) {
      cluster.faultAt = performance.now();
      await databases.crash(leader);
    }
  } finally {
    leader.machine.heal(standby.machine);
  }
  if (isLost) {
    await replaced(cluster, leader);
    databases.restart(leader);
  }
  await cluster.resumed(60);
  await databases.whole();
  return `${how}${isLost ? `, then lost ${leader.machine.name}` : ''}`;
}
