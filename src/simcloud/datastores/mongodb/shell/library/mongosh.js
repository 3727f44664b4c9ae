// mongosh's own ways: a reply that says no is thrown, results are plain objects.

var __throwsForMissing = true;

function __failure(reply) {
    const error = new MongoServerError(reply.errmsg);
    error.ok = reply.ok;
    error.code = reply.code;
    error.codeName = reply.codeName;
    return error;
}
function __writeFailure(first) {
    const error = new MongoServerError(first.errmsg);
    error.index = first.index;
    error.code = first.code;
    return error;
}
function __argumentError(message) {
    return new MongoshInvalidInputError(`[COMMON-10001] ${message[0].toUpperCase()}${message.slice(1)}`);
}
function __exhausted() { throw new Error("Cursor is exhausted"); }

DB.prototype._result = function(command) { return this._must(command); };
DB.prototype.shellPrint = function() { print(this._name); };
DBCollection.prototype.shellPrint = function() { print(this._fullName); };
Mongo.prototype.shellPrint = function() { print("mongodb://" + this.host + "/?directConnection=true&appName=mongosh"); };

__Cursor.prototype.shellPrint = function() {
    const shown = [];
    while (shown.length < DBQuery.shellBatchSize && this.hasNext()) shown.push(this.next());
    if (shown.length === 0 && this._printed) {
        print("no cursor");
        return;
    }
    this._printed = true;
    print(shown.length ? __inspect(shown) : "");
    if (this.hasNext()) {
        print('Type "it" for more');
        ___it___ = this;
    } else {
        ___it___ = null;
    }
};

const __version = "2.12.0";
function version() { return __version; }
function printjson(value) { print(__inspect(value, false)); }
const console = {log: print, error: print, warn: print, info: print, debug: print};

// -- writing --------------------------------------------------------------------------------------

function __checked(reply) {
    if (!reply.ok) throw __failure(reply);
    if (reply.writeErrors) throw __writeFailure(reply.writeErrors[0]);
    return reply;
}

DBCollection.prototype.insertOne = function(document) {
    const full = this._withIds([document]);
    __checked(this._insert(full));
    return {acknowledged: true, insertedId: full[0]._id};
};
DBCollection.prototype.insertMany = function(documents, options) {
    if (!Array.isArray(documents)) throw new Error("Argument \"docs\" must be an array of documents");
    const full = this._withIds(documents);
    const reply = this._insert(full, options?.ordered);
    if (!reply.ok) throw __failure(reply);
    if (reply.writeErrors) throw new MongoBulkWriteError(reply.writeErrors[0].errmsg);
    return {acknowledged: true, insertedIds: Object.fromEntries(full.map((each, at) => [String(at), each._id]))};
};
DBCollection.prototype.insert = function(documents, options) {
    print("DeprecationWarning: Collection.insert() is deprecated. Use insertOne, insertMany, or bulkWrite.");
    return this.insertMany(Array.isArray(documents) ? documents : [documents], options);
};
DBCollection.prototype._updated = function(reply) {
    __checked(reply);
    const upserted = reply.upserted ?? [];
    return {
        acknowledged: true,
        insertedId: upserted.length ? upserted[0]._id : null,
        matchedCount: reply.n - upserted.length,
        modifiedCount: reply.nModified,
        upsertedCount: upserted.length
    };
};
DBCollection.prototype.updateOne = function(filter, change, options) {
    this._checkUpdate(change);
    return this._updated(this._update(filter, change, false, options));
};
DBCollection.prototype.updateMany = function(filter, change, options) {
    this._checkUpdate(change);
    return this._updated(this._update(filter, change, true, options));
};
DBCollection.prototype._checkUpdate = function(change) {
    if (!Array.isArray(change) && Object.keys(change ?? {})[0]?.[0] !== "$") {
        throw new MongoError("Update document requires atomic operators");
    }
};
DBCollection.prototype.replaceOne = function(filter, document, options) {
    this._checkReplacement(document);
    return this._updated(this._update(filter, document, false, options));
};
DBCollection.prototype.update = function(filter, change, options) {
    print("DeprecationWarning: Collection.update() is deprecated. Use updateOne, updateMany, or bulkWrite.");
    return options?.multi ? this.updateMany(filter, change, options) : this.updateOne(filter, change, options);
};
DBCollection.prototype.deleteOne = function(filter) {
    return {acknowledged: true, deletedCount: __checked(this._delete(filter, 1)).n};
};
DBCollection.prototype.deleteMany = function(filter) {
    return {acknowledged: true, deletedCount: __checked(this._delete(filter, 0)).n};
};
DBCollection.prototype.remove = function(filter, justOne) {
    print("DeprecationWarning: Collection.remove() is deprecated. Use deleteOne, deleteMany, findOneAndDelete, or bulkWrite.");
    const one = justOne === true || justOne?.justOne;
    return one ? this.deleteOne(filter) : this.deleteMany(filter);
};
DBCollection.prototype.save = function() {
    throw new MongoshInvalidInputError("[COMMON-10001] Collection.save() is deprecated. Use insertOne, insertMany, updateOne, or updateMany.");
};
DBCollection.prototype.createIndex = function(keys, options) { return this.createIndexes([keys], options)[0]; };
DBCollection.prototype.ensureIndex = function(keys, options) { return this.createIndexes([keys], options); };
DBCollection.prototype.createIndexes = function(many, options) {
    const indexes = many.map(keys => this._indexSpec(keys, options));
    this._db._must({createIndexes: this._shortName, indexes});
    return indexes.map(each => each.name);
};
DBCollection.prototype.drop = function() {
    const reply = this._db._raw({drop: this._shortName});
    if (!reply.ok && reply.code !== 26) throw __failure(reply);
    return reply.ok === 1;
};
DB.prototype.dropDatabase = function() { return this._must({dropDatabase: 1}); };

// -- users and roles ------------------------------------------------------------------------------

DB.prototype.createUser = function(user) {
    const {user: name, passwordDigestor, ...rest} = user;
    return this._must(this._userCommand("createUser", name, rest));
};
DB.prototype.updateUser = function(name, change) { return this._must(this._userCommand("updateUser", name, change)); };
DB.prototype.dropUser = function(name) { return this._must({dropUser: name}); };
DB.prototype.grantRolesToUser = function(name, roles) { return this._must({grantRolesToUser: name, roles}); };
DB.prototype.revokeRolesFromUser = function(name, roles) { return this._must({revokeRolesFromUser: name, roles}); };
DB.prototype.getUser = function(name, options) {
    const {users} = this._must({usersInfo: {user: name, db: this._name}, ...options});
    return users.find(each => each.user === name) ?? null;
};
DB.prototype.getUsers = function(options) { return this._must({usersInfo: 1, ...options}); };
DB.prototype.createRole = function(role) {
    const {role: name, ...rest} = role;
    return this._must(this._userCommand("createRole", name, rest));
};
DB.prototype.getRole = function(name, options) {
    const {roles} = this._must({rolesInfo: {role: name, db: this._name}, ...options});
    return roles.find(each => each.role === name) ?? null;
};
DB.prototype.getRoles = function(options) { return this._must({rolesInfo: 1, ...options}); };
DB.prototype.auth = function(...args) {
    this._login(args);
    return {ok: 1};
};
DB.prototype.shutdownServer = function(options) { return this._admin()._must({shutdown: 1, ...options}); };

const sh = {
    status() { throw new MongoshInvalidInputError("[SHAPI-10003] db is not a sharded cluster"); }
};

// -- use, show, it, help --------------------------------------------------------------------------

function __use(name) {
    const before = db.getName();
    db = db.getMongo().getDB(name);
    print((before === name ? "already on db " : "switched to db ") + name);
}

function __it() {
    if (!___it___) {
        print("no cursor");
        return;
    }
    return ___it___;
}

function __size(bytes) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let at = 0;
    while (bytes >= 1024 && at < units.length - 1) {
        bytes /= 1024;
        at++;
    }
    return (at === 0 ? String(bytes) : bytes.toFixed(2)) + " " + units[at];
}

function __table(rows) {
    const widths = [0, 1].map(at => Math.max(...rows.map(row => row[at].length)));
    rows.forEach(row => print(row[0].padEnd(widths[0]) + "  " + row[1].padStart(widths[1])));
}

function __show(what, name) {
    switch (what) {
    case "dbs":
    case "databases": {
        const {databases} = db._admin()._must({listDatabases: 1});
        const found = databases.slice().sort((a, b) => a.name < b.name ? -1 : 1);
        if (found.length) __table(found.map(each => [each.name, __size(Number(each.sizeOnDisk))]));
        return;
    }
    case "collections":
    case "tables": {
        const reply = db._must({listCollections: 1, nameOnly: true, authorizedCollections: true});
        const names = new DBCommandCursor(db.getCollection("$cmd.listCollections"), reply).map(each => each.name);
        names.sort().forEach(each => print(each));
        return;
    }
    case "users":
        return db.getUsers().users;
    case "roles":
        return db.getRoles({showBuiltinRoles: true}).roles;
    case "logs":
        return db._admin()._must({getLog: "*"}).names;
    case "log":
        db._admin()._must({getLog: name ?? "global"}).log.forEach(line => print(line));
        return;
    }
    throw new MongoshInvalidInputError(`[COMMON-10001] '${what}' is not a valid argument for "show".`);
}

function __warnings() {
    const reply = db._admin()._raw({getLog: "startupWarnings"});
    if (!reply.ok || !reply.log?.length) return;
    print("------");
    print("   The server generated these startup warnings when booting");
    reply.log.forEach(line => {
        try {
            const {t, msg} = JSON.parse(line);
            print(`   ${t.$date}: ${msg}`);
        } catch (error) {
            print(`   ${line}`);
        }
    });
    print("------\n");
}

function __help() {
    print("  Shell Help:\n");
    [["use", "Set current database"],
     ["show", "'show databases'/'show dbs': Print a list of all available databases."],
     ["", "'show collections'/'show tables': Print a list of all collections for current database."],
     ["", "'show users': Print a list of all users for current database."],
     ["", "'show roles': Print a list of all roles for current database."],
     ["", "'show log <type>': log for current connection, if type is not set uses 'global'"],
     ["", "'show logs': Print all logs."],
     ["exit", "Quit the MongoDB shell with exit/exit()/.exit"],
     ["quit", "Quit the MongoDB shell with quit/quit()"],
     ["Mongo", "Create a new connection and return the Mongo object. Usage: new Mongo(URI, options [optional])"],
     ["connect", "Create a new connection and return the Database object. Usage: connect(URI, username [optional], password [optional])"],
     ["it", "result of the last line evaluated; use to further iterate"],
     ["version", "Shell version"],
     ["load", "Loads and runs a JavaScript file into the current shell environment"],
     ["print", "Prints the contents of an object to the output"],
     ["sleep", "Sleep for the specified number of milliseconds"]
    ].forEach(([name, text]) => print(`    ${name.padEnd(43)}${text}`));
    print("\n  For more information on usage: https://mongodb.com/docs/manual/mongo");
}
