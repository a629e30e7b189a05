import type { Bindings } from '../http/bindings.ts';
import type { DecisionService } from './service.ts';

/** Decisions whether keys may be used. */
export const decisionOperations = (decisions: DecisionService): Bindings => ({
  decide: ({ context, body }) => decisions.decide(context, body),
  listSshKeys: ({ params }) => decisions.sshKeysOf(params.userName),
});
