import registry from './001-registry.ts';

/** Marks a database as one of devmgr ('DvMg'), so that one of another program is not taken for it. */
export const applicationId = 0x44764d67;

/** A step from one version of the schema to the next. Its number is the version it leads to. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/** In order and without gaps. One that was released is never edited: a further change is a further step. */
export const migrations: readonly Migration[] = [{ number: 1, name: 'registry', sql: registry }];
