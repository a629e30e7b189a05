/** Registry daemons that are killed, or stopped for some seconds. */
import type { Cluster } from '../cluster.ts';
import type { RegistryNode } from '../registry-node.ts';

/** Every other fault is SIGKILL, the others SIGSTOP. */
export async function nodeFault(cluster: Cluster, i: number): Promise<string> {
  const node = cluster.chance.of(cluster.nodes);
  return i % 2 === 0 ? kill(cluster, node) : freeze(cluster, node);
}

async function kill({ chance }: Cluster, node: RegistryNode): Promise<string> {
  await node.kill();
  await chance.pause(500, 3000);
  node.start();
  await node.ready();
  return `SIGKILL ${node.machine.name}`;
}

async function freeze({ chance }: Cluster, node: RegistryNode): Promise<string> {
  node.freeze();
  try {
    await chance.pause(500, 8000);
  } finally {
    node.thaw();
  }
  await node.ready();
  return `SIGSTOP ${node.machine.name}`;
}
