import { afterEach, beforeEach, describe, it } from 'vitest';
import { caseRules } from './store/case-rules.ts';
import { clusterRules } from './store/cluster-rules.ts';
import { commitRules } from './store/commit-rules.ts';
import { credentialRules } from './store/credential-rules.ts';
import type { OpenedStore, OpenStore, Rule } from './store/fixtures.ts';
import { groupRules } from './store/group-rules.ts';
import { guardRules } from './store/guard-rules.ts';
import { identityRules } from './store/identity-rules.ts';
import { listRules } from './store/list-rules.ts';
import { passkeyRules } from './store/passkey-rules.ts';
import { personRules } from './store/person-rules.ts';
import { proofRules } from './store/proof-rules.ts';
import { readRules } from './store/read-rules.ts';
import { receiptRules } from './store/receipt-rules.ts';
import { refusedRules } from './store/refused-rules.ts';
import { responseRules } from './store/response-rules.ts';
import { searchRules } from './store/search-rules.ts';
import { ssoRules } from './store/sso-rules.ts';
import { tokenRules } from './store/token-rules.ts';
import { totalRules } from './store/total-rules.ts';
import { webhookRules } from './store/webhook-rules.ts';

/** The rules that every store must keep. */
export const storeRules: readonly Rule[] = [
  ...commitRules,
  ...guardRules,
  ...groupRules,
  ...readRules,
  ...listRules,
  ...totalRules,
  ...searchRules,
  ...tokenRules,
  ...responseRules,
  ...proofRules,
  ...receiptRules,
  ...identityRules,
  ...credentialRules,
  ...webhookRules,
  ...caseRules,
  ...refusedRules,
  ...ssoRules,
  ...passkeyRules,
  ...personRules,
];

/** Tests a store against all rules. `open` returns an empty store. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`the ${name} store keeps the contract`, () => testRules(storeRules, open));
}

/** Tests a store that several handles can have open at the same time; `open` returns one with `openAnother`. */
export function clusterContract(name: string, open: OpenStore): void {
  describe(`several handles of one ${name} store keep the contract`, () => testRules(clusterRules, open));
}

function testRules(rules: readonly Rule[], open: OpenStore): void {
  let opened: OpenedStore;
  beforeEach(async () => {
    opened = await open();
  });
  afterEach(() => opened.cleanup());
  for (const { name: rule, check } of rules) it(rule, () => check(opened));
}
