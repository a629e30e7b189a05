import type { DocumentGuard, DocumentName } from '../../domain/document.ts';
import type { UnansweredGuard } from '../../domain/proof.ts';
import { Conflict } from '../commit.ts';
import type { Statements } from './statements.ts';

/** The version of a document; 0 if it does not exist. */
export const versionOf = (statements: Statements, name: DocumentName): number =>
  statements.value<number>('SELECT version FROM document WHERE name = ?', name) ?? 0;

/** Whether an answer to a challenge is stored. */
export const hasAnswers = (statements: Statements): boolean =>
  statements.value('SELECT 1 FROM proof LIMIT 1') !== undefined;

/** Throws `Conflict` if a document that must have one version has another one. */
export function checkVersion(name: DocumentName, needed: number, found: number): void {
  if (found !== needed) throw new Conflict(`the document ${name} has another version now`);
}

/**
 * Checks what each registration holds: the policy for proofs, and that its key has not answered a challenge. What was read is kept,
 * because the process is the only writer of the database.
 */
export class KeptGuards {
  readonly #versions = new Map<DocumentName, number>();
  #hasAnswers: boolean | null = null;

  /** To be called before a document or an answer is written, and when a transaction was undone. */
  forget(): void {
    this.#versions.clear();
    this.#hasAnswers = null;
  }

  /** Throws `Conflict` if the guard does not hold. */
  checkDocument(statements: Statements, { name, version }: DocumentGuard): void {
    const found = this.#versions.get(name) ?? versionOf(statements, name);
    this.#versions.set(name, found);
    checkVersion(name, version, found);
  }

  /** Throws `Conflict` if the guard does not hold. */
  checkUnanswered(statements: Statements, { serialNumber }: UnansweredGuard): void {
    this.#hasAnswers ??= hasAnswers(statements);
    if (this.#hasAnswers && statements.value('SELECT 1 FROM proof WHERE serial_number = ?', serialNumber) !== undefined)
      throw new Conflict('an answer of the key was stored meanwhile');
  }
}
