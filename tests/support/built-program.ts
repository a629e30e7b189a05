/** Builds the program once before the tests of a run, so that no test runs an earlier build. */
import { build } from '../../scripts/build.mjs';

export default async function buildProgram(): Promise<void> {
  await build();
}
