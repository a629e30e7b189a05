/** Connections that are cut for some seconds. */
import type { Cluster } from '../cluster.ts';
import { SERVER_PORT } from '../patroni-config.ts';

/** A node does not reach the primary; clients still reach the node. */
export async function cutNode({ chance, nodes, proxy }: Cluster): Promise<string> {
  const node = chance.of(nodes);
  node.machine.cut(proxy, SERVER_PORT);
  try {
    await chance.pause(2000, 15_000);
  } finally {
    node.machine.heal(proxy, SERVER_PORT);
  }
  await node.ready();
  return `${node.machine.name} from the primary`;
}

/** The primary and its synchronous standby do not reach each other; both reach etcd and the proxy. */
export async function cutStandby(cluster: Cluster): Promise<string> {
  const { chance, databases } = cluster;
  const { leader, standby } = await databases.whole();
  leader.machine.cut(standby.machine);
  try {
    await chance.pause(3000, 20_000);
    await cluster.resumed(60);
  } finally {
    leader.machine.heal(standby.machine);
  }
  await databases.whole();
  return `${leader.machine.name} from ${standby.machine.name}`;
}
