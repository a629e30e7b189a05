/** Primaries that are lost, that are changed by plan, and whose Patroni is stopped. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../cluster.ts';
import type { Database } from '../database.ts';
import { TTL } from '../patroni-config.ts';
import { until } from '../waiting.ts';

/** Seconds for a new primary, waiting included; the limit of the pause is checked on the writes. */
const FAILOVER_S = 120;

/** The machine of the primary is lost, and comes back later as a standby. */
export async function killPrimary(cluster: Cluster): Promise<string> {
  const { chance, databases } = cluster;
  const { leader } = await databases.roles();
  await databases.crash(leader);
  await replaced(cluster, leader);
  await chance.pause(0, 3000);
  databases.restart(leader);
  await databases.whole();
  return `lost ${leader.machine.name}`;
}

export async function switchOver(cluster: Cluster): Promise<string> {
  const { databases } = cluster;
  const { leader, standby } = await databases.roles();
  await databases.switchover(leader, standby);
  await replaced(cluster, leader);
  await databases.whole();
  return `${leader.machine.name} to ${standby.machine.name}`;
}

/** PostgreSQL continues, and its Patroni wakes up when another server is the primary. */
export async function freezePatroni(cluster: Cluster): Promise<string> {
  const { databases } = cluster;
  const { leader } = await databases.roles();
  leader.patroni.kill('SIGSTOP');
  try {
    await replaced(cluster, leader);
    // Time is what is tested: the new primary holds its place for half a TTL beside a Patroni that does not know of it.
    await sleep(TTL * 500);
  } finally {
    leader.patroni.kill('SIGCONT');
  }
  await databases.whole();
  return `the Patroni of ${leader.machine.name} was stopped`;
}

/** Resolves when another server is the primary and writes succeed. */
export async function replaced(cluster: Cluster, old: Database): Promise<void> {
  await until('a new primary', FAILOVER_S, async () => (await cluster.databases.roles()).leader !== old);
  await cluster.resumed(FAILOVER_S);
}
