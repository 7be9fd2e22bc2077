// Judges what the official conformance suite found: `conformance.mjs RESULTS BASELINE SUITE`.
//
// RESULTS has a directory for each revision, with the suite's `checks.json` of each scenario. A scenario fails if one of
// its checks is a failure or a warning, or if it was not run. BASELINE lists the scenarios that may fail, one a line:
//
//     2026-07-28 tasks-lifecycle: why
//
// Exits with 1 if another scenario fails, or one of these does not.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [results, baselineFile, suite] = process.argv.slice(2);
const yaml = createRequire(resolve(suite, 'package.json'))('yaml');

// Whether a check holds. The others say something, or that there was nothing to check.
const PASSED = new Set(['SUCCESS']);
const FAILED = new Set(['FAILURE', 'WARNING']);

function readBaseline() {
  const lines = readFileSync(baselineFile, 'utf8').split('\n');
  const entries = lines.filter((line) => line.trim() && !line.startsWith('#'));
  return new Map(
    entries.map((line) => {
      const entry = /^(\S+ \S+): (.+)$/.exec(line);
      if (!entry) throw new Error(`${baselineFile}: "${line}" is not REVISION SCENARIO: REASON`);
      return [entry[1], entry[2]];
    })
  );
}

// The checks of each scenario that was run, by its name.
function readChecks(revision) {
  const directory = join(results, revision);
  const checks = new Map();
  for (const name of existsSync(directory) ? readdirSync(directory) : []) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name)?.[1];
    const file = join(directory, name, 'checks.json');
    if (scenario && existsSync(file)) checks.set(scenario, JSON.parse(readFileSync(file, 'utf8')));
  }
  return checks;
}

// The server's scenarios: what the revision requires, and what is only looked at.
function readScenarios(revision) {
  const text = readFileSync(join(suite, 'requirements', `${revision}.yaml`), 'utf8');
  const requirements = yaml.parse(text);
  const others = requirements.not_scored.filter((entry) => entry.leg === 'server');
  return { required: requirements.server, 'not scored': others.map((entry) => entry.scenario) };
}

const baseline = readBaseline();
const unused = new Set(baseline.keys());
let isBad = false;

for (const revision of ['2026-07-28', '2025-11-25']) {
  const checks = readChecks(revision);
  for (const [kind, scenarios] of Object.entries(readScenarios(revision))) {
    let passed = 0;
    let failed = 0;
    for (const scenario of scenarios) {
      const found = checks.get(scenario);
      const wrong = (found ?? []).filter((check) => FAILED.has(check.status));
      passed += (found ?? []).filter((check) => PASSED.has(check.status)).length;
      failed += wrong.length;
      if (found && wrong.length === 0) continue;
      const key = `${revision} ${scenario}`;
      if (unused.delete(key)) continue;
      isBad = true;
      console.log(`FAILS: ${key}${found ? '' : ': it was not run'}`);
      for (const check of wrong) console.log(`  ${check.id}: ${check.errorMessage ?? check.description}`);
    }
    const count = `${scenarios.length} scenarios`;
    console.log(`${revision}, ${kind}: ${passed} of ${passed + failed} checks passed in ${count}`);
  }
}
for (const [key, reason] of baseline) {
  if (unused.has(key)) {
    isBad = true;
    console.log(`PASSES, but is in the baseline: ${key}`);
  } else {
    console.log(`fails as expected: ${key} (${reason})`);
  }
}
process.exitCode = isBad ? 1 : 0;
