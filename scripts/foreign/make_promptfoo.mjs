// A promptfoo evaluation with two local providers, two repeats, named scores, and one failing call.
// Run by foreign_samples.py: node make_promptfoo.mjs QUESTIONS FOLDER (in the folder where promptfoo is installed).
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [questionsFile, folder] = process.argv.slice(2);
// Four questions: a result has thousands of characters.
const questions = JSON.parse(readFileSync(questionsFile, "utf8")).slice(2);

// One call per repeat: promptfoo gives a provider the repeat's number in its context.
const provider = (system) => `
const questions = ${JSON.stringify(questions)};
module.exports = class {
  id() { return "${system}"; }
  async callApi(prompt, context) {
    const row = questions.find((question) => question.question === context.vars.question);
    if ("${system}" === "beta" && row.id === "river" && context.repeatIndex === 0) {
      return { error: "the service of the model is away" };
    }
    return { output: row.answers["${system}"][context.repeatIndex || 0] };
  }
};
`;
for (const system of ["alpha", "beta"]) writeFileSync(`${system}.cjs`, provider(system));

const tests = questions.map((row, index) => ({
  // Half of the tests have a description, the others are told apart by their variables.
  ...(index % 2 ? {} : { description: row.id }),
  vars: { question: row.question, gold: row.gold },
  assert: [
    { type: "equals", value: row.gold, metric: "exact" },
    { type: "javascript", value: `${JSON.stringify(row.gold)}.split(" ").filter((word) => output.split(" ").includes(word)).length / ${row.gold.split(" ").length}`, metric: "recall" },
  ],
}));
const config = { description: "facts", prompts: ["{{question}}"], providers: ["file://alpha.cjs", "file://beta.cjs"], tests };
writeFileSync("promptfooconfig.json", JSON.stringify(config));

const run = (name, extra) => {
  const command = ["promptfoo", "eval", "--config", "promptfooconfig.json", "--no-cache", "--no-table", "--no-progress-bar",
    "--max-concurrency", "1", "--output", resolve(folder, name), ...extra];
  const done = spawnSync(process.execPath, [join("node_modules", ".bin", command[0]), ...command.slice(1)], {
    encoding: "utf8",
    env: { ...process.env, PROMPTFOO_CONFIG_DIR: resolve("settings"), PROMPTFOO_DISABLE_TELEMETRY: "1", PROMPTFOO_DISABLE_UPDATE: "1",
      PROMPTFOO_DISABLE_REMOTE_GENERATION: "1" },
  });
  // 100: some tests failed, which is meant.
  if (done.status !== 0 && done.status !== 100) throw new Error(done.stdout + done.stderr);
};
run("repeated.json", ["--repeat", "2"]);
