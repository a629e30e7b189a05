/** Clocks that are wrong by ten minutes. */
import type { Cluster } from '../cluster.ts';
import { until } from '../waiting.ts';

const MINUTES = 10;

/** The wall clock of a node jumps while it works. The node must refuse writes until its clock is right; the others continue. */
export async function wrongClock({ chance, nodes }: Cluster, i: number): Promise<string> {
  const node = nodes[i % nodes.length]!;
  const minutes = Math.floor(i / nodes.length) % 2 === 0 ? MINUTES : -MINUTES;
  node.clock.set(minutes);
  try {
    await until(`${node.machine.name} not ready`, 20, async () => !(await node.isReady()));
    await chance.pause(1000, 8000);
  } finally {
    node.clock.set(0);
  }
  await node.ready();
  return `${node.machine.name} ${minutes > 0 ? '+' : ''}${minutes} min`;
}

/** The wall clock of the primary jumps. No node writes until it is right. */
export async function wrongDatabaseClock({ chance, nodes, databases }: Cluster, i: number): Promise<string> {
  const { leader } = await databases.whole();
  const minutes = i % 2 === 0 ? MINUTES : -MINUTES;
  leader.clock.set(minutes);
  try {
    const isReady = async () => (await Promise.all(nodes.map(node => node.isReady()))).includes(true);
    await until('no node ready', 20, async () => !(await isReady()));
    await chance.pause(1000, 5000);
  } finally {
    leader.clock.set(0);
  }
  await Promise.all(nodes.map(node => node.ready()));
  await databases.whole();
  return `${leader.machine.name} ${minutes > 0 ? '+' : ''}${minutes} min`;
}
