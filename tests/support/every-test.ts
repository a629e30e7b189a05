/** Fails each test in which a fake key or card received a command that drivers/protocols/gate.ts does not list. */
import { afterAll, afterEach, expect } from 'vitest';
import { takeUnlisted } from './received-commands.ts';

const checkCommands = (): void => expect(takeUnlisted(), 'commands outside of the gate').toEqual([]);

afterEach(checkCommands);
// Messages that arrive after the last test.
afterAll(checkCommands);
