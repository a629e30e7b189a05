/** The cost of password hashes in daemons of tests: a hash takes microseconds instead of 0.2 s of processor time. */
export const cheapHashes = { N: 16, r: 8, p: 1 };
