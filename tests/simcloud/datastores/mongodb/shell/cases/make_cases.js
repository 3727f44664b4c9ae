// Run by the genuine shell: mongosh --nodb --quiet make_cases.js
// Each line of expressions.txt, and what it prints, into expressions.json.
const fs = require("fs"), path = require("path"), util = require("util"), vm = require("vm");
const lines = fs.readFileSync("expressions.txt", "utf8").split("\n").filter(line => line);
const show = value => typeof value === "string" ? value : util.inspect(value, {depth: 6, compact: 3, breakLength: 80, maxArrayLength: Infinity});
const context = vm.createContext({ObjectId, NumberLong, NumberInt, ISODate, UUID, BinData});
// mongosh writes dates its own way.
for (const kind of [Date, vm.runInContext("Date", context)]) {
    kind.prototype[util.inspect.custom] = function() {
        return isNaN(this) ? "Invalid Date" : `ISODate('${this.toISOString()}')`;
    };
}
const cases = lines.map(line => {
    try { return [line, show(vm.runInContext(line, context))]; }
    catch (error) { return [line, `${error.name}: ${error.message}`]; }
});
fs.writeFileSync("expressions.json", JSON.stringify(cases, null, 1) + "\n");
