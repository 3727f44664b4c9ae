// What databases can do, the same in both shells. `_raw` gives the reply; `_must` throws when it is not ok.

DB.prototype._raw = function(command) { return __command(this._mongo, this._name, command); };

DB.prototype._must = function(command, prefix) {
    var reply = this._raw(command);
    if (!reply.ok) throw __failure(reply, prefix);
    return reply;
};

DB.prototype._admin = function() { return this.getSiblingDB("admin"); };

DB.prototype.runCommand = function(command, more) {
    if (typeof command === "string") {
        var named = {};
        named[command] = 1;
        command = Object.assign(named, more || {});
    }
    return this._result(command);
};
DB.prototype.adminCommand = function(command, more) { return this._admin().runCommand(command, more); };

DB.prototype.getName = function() { return this._name; };
DB.prototype.toString = function() { return this._name; };
DB.prototype.getMongo = function() { return this._mongo; };
DB.prototype.getSiblingDB = function(name) { return __database(this._mongo, name); };
DB.prototype.getCollection = function(name) { return __collection(this, name); };

DB.prototype.getCollectionInfos = function(filter) {
    if (typeof filter === "string") filter = {name: filter};
    var command = {listCollections: 1, filter: filter || {}};
    var reply = this._must(command, "listCollections failed: ");
    var infos = new DBCommandCursor(this.getCollection("$cmd.listCollections"), reply).toArray();
    return infos.sort(function(a, b) { return a.name < b.name ? -1 : a.name > b.name ? 1 : 0; });
};

DB.prototype.getCollectionNames = function() {
    return this.getCollectionInfos().map(function(info) { return info.name; });
};

DB.prototype.createCollection = function(name, options) {
    return this._result(Object.assign({create: name}, options || {}));
};

DB.prototype.stats = function(scale) {
    var command = {dbStats: 1, scale: typeof scale === "number" ? scale : 1};
    return this._result(command);
};
DB.prototype.serverStatus = function(options) {
    return this._admin()._result(Object.assign({serverStatus: 1}, options || {}));
};
DB.prototype.isMaster = function() { return this._result({isMaster: 1}); };
DB.prototype.hello = function() { return this._result({hello: 1}); };
DB.prototype.serverBuildInfo = function() { return this._admin()._result({buildInfo: 1}); };
DB.prototype.version = function() { return this._admin()._must({buildInfo: 1}, "").version; };
DB.prototype.serverCmdLineOpts = function() { return this._admin()._result({getCmdLineOpts: 1}); };
DB.prototype.currentOp = function(filter) {
    var command = {currentOp: 1};
    if (filter === true) command.$all = true;
    else Object.assign(command, filter || {});
    return this._admin()._result(command);
};
DB.prototype.killOp = function(op) {
    if (op === undefined) throw Error("no opNum to kill specified");
    return this._admin()._result({killOp: 1, op: op});
};
DB.prototype.fsyncLock = function() { return this._admin()._result({fsync: 1, lock: true}); };
DB.prototype.fsyncUnlock = function() { return this._admin()._result({fsyncUnlock: 1}); };
DB.prototype.hostInfo = function() { return this._admin()._result({hostInfo: 1}); };
DB.prototype.getProfilingStatus = function() {
    var reply = this._must({profile: -1}, "profile command failed: ");
    delete reply.ok;
    return reply;
};
DB.prototype.getProfilingLevel = function() { return this._must({profile: -1}, "command failed: ").was; };
DB.prototype.setProfilingLevel = function(level, options) {
    if (level < 0 || level > 2) throw Error("input level " + level + " is out of range [0..2]");
    if (typeof options === "number") options = {slowms: options};
    return this._result(Object.assign({profile: level}, options || {}));
};
DB.prototype.logout = function() {
    __logout(this._mongo, this._name);
    return this._result({logout: 1});
};

DB.prototype._userCommand = function(first, name, rest) {
    var command = {};
    command[first] = name;
    return Object.assign(command, rest || {});
};
DB.prototype.changeUserPassword = function(user, password) { return this.updateUser(user, {pwd: password}); };
DB.prototype._login = function(args) {
    var login = {db: this._name};
    if (args.length === 1 && typeof args[0] === "string") {
        login.user = args[0];
        login.pwd = passwordPrompt();
    } else if (args.length === 1) {
        login.user = args[0].user || args[0].username;
        login.pwd = args[0].pwd || args[0].password;
        login.mechanism = args[0].mechanism;
    } else {
        login.user = args[0];
        login.pwd = args[1];
    }
    if (login.user === undefined || login.pwd === undefined) {
        throw Error("auth expects either (username, password) or ({ user: username, pwd: password })");
    }
    __login(this._mongo, login.db, login.user, login.pwd, login.mechanism);
};

// -- connections ----------------------------------------------------------------------------------

Mongo.prototype.getDB = function(name) { return __database(this, name); };
Mongo.prototype.getDBs = function() { return this.getDB("admin")._must({listDatabases: 1}, "listDatabases failed:"); };
Mongo.prototype.getDBNames = function() {
    return this.getDBs().databases.map(function(each) { return each.name; });
};
Mongo.prototype.adminCommand = function(command) { return this.getDB("admin").runCommand(command); };
Mongo.prototype.toString = function() { return "connection to " + this.host; };

function connect(address, user, password) {
    var mongo = __open(address.indexOf("/") < 0 && address.indexOf(":") < 0 ? "127.0.0.1:27017/" + address : address);
    var made = mongo.getDB(mongo.defaultDB);
    if (user !== undefined) __login(mongo, made.getName(), user, password);
    return made;
}

// -- replication, of which a lone server has none -------------------------------------------------

var rs = {
    status: function() { return db._admin()._result({replSetGetStatus: 1}); },
    initiate: function(config) { return db._admin()._result({replSetInitiate: config === undefined ? {} : config}); },
    isMaster: function() { return db.isMaster(); },
    hello: function() { return db.hello(); },
    conf: function() {
        var reply = db._admin()._raw({replSetGetConfig: 1});
        if (reply.config) return reply.config;
        throw __failure(reply, "Could not retrieve replica set config: ");
    }
};
rs.config = rs.conf;
