// The old shell's users, roles, helpers and help.

DB.prototype.createUser = function(user) {
    var name = user.user;
    var rest = Object.assign({}, user, {digestPassword: true});
    delete rest.user;
    var reply = this._raw(this._userCommand("createUser", name, rest));
    if (reply.ok) {
        var shown = Object.assign({}, user);
        delete shown.pwd;
        print("Successfully added user: " + tojson(shown));
        return;
    }
    if (reply.errmsg === "no such cmd: createUser") {
        throw Error("'createUser' command not found.  This is most likely because you are talking to an old (pre v2.6) MongoDB server");
    }
    throw _getErrorWithCode(reply, "couldn't add user: " + reply.errmsg);
};
DB.prototype.dropUser = function(name) {
    var reply = this._raw({dropUser: name});
    if (reply.ok) return true;
    if (reply.code === 11) return false;
    throw _getErrorWithCode(reply, reply.errmsg);
};
DB.prototype.updateUser = function(name, change) {
    var rest = Object.assign({}, change);
    if (rest.pwd !== undefined) rest.digestPassword = true;
    var reply = this._raw(this._userCommand("updateUser", name, rest));
    if (!reply.ok) throw _getErrorWithCode(reply, "Updating user failed: " + reply.errmsg);
};
DB.prototype._quietly = function(command) {
    var reply = this._raw(command);
    if (!reply.ok) throw _getErrorWithCode(reply, reply.errmsg);
    return reply;
};
DB.prototype.grantRolesToUser = function(name, roles) { this._quietly({grantRolesToUser: name, roles: roles}); };
DB.prototype.revokeRolesFromUser = function(name, roles) { this._quietly({revokeRolesFromUser: name, roles: roles}); };
DB.prototype.getUser = function(name, args) {
    var users = this._quietly(Object.assign({usersInfo: {user: name, db: this._name}}, args || {})).users;
    return users.length ? users[0] : null;
};
DB.prototype.getUsers = function(args) {
    return this._quietly(Object.assign({usersInfo: 1}, args || {})).users;
};
DB.prototype.createRole = function(role) {
    var rest = Object.assign({}, role);
    delete rest.role;
    this._quietly(this._userCommand("createRole", role.role, rest));
    printjson(role);
};
DB.prototype.getRole = function(name, args) {
    var roles = this._quietly(Object.assign({rolesInfo: {role: name, db: this._name}}, args || {})).roles;
    return roles.length ? roles[0] : null;
};
DB.prototype.getRoles = function(args) { return this._quietly(Object.assign({rolesInfo: 1}, args || {})).roles; };
DB.prototype.auth = function() {
    try {
        this._login(arguments);
    } catch (error) {
        print(error);
        return 0;
    }
    return 1;
};

DB.prototype.shutdownServer = function(options) {
    if (this._name !== "admin") {
        return "shutdown command only works with the admin database; try 'use admin'";
    }
    try {
        var reply = this._raw(Object.assign({shutdown: 1}, options || {}));
        if (!reply.ok) throw _getErrorWithCode(reply, "shutdownServer failed: " + tojson(reply));
    } catch (error) {
        if (String(error).indexOf("network error") < 0) throw error;
    }
    print("server should be down...");
};

var sh = {
    status: function() {
        print("printShardingStatus: this db does not have sharding enabled. be sure you are connecting to a mongos from the shell and not to a mongod.");
    }
};

// -- use, show, it, help --------------------------------------------------------------------------

function __use(name) {
    if (/[\/\\. "$*<>:|?]/.test(name)) throw Error("[" + name + "] is not a valid database name");
    db = db.getMongo().getDB(name);
    print("switched to db " + name);
}

function __it() {
    if (!___it___) {
        print("no cursor");
        return;
    }
    ___it___.shellPrint();
}

function __showDatabases() {
    var reply = db._admin()._raw({listDatabases: 1});
    if (!reply.ok) {
        if (reply.code !== 13) throw __failure(reply, "listDatabases failed:");
        print("Warning: unable to run listDatabases, attempting to approximate database names by parsing connectionStatus");
        return;
    }
    var found = reply.databases.slice().sort(function(a, b) { return a.name < b.name ? -1 : 1; });
    var longest = Math.max.apply(null, found.map(function(each) { return each.name.length; }));
    found.forEach(function(each) {
        print(each.name.padEnd(longest + 2) + (each.sizeOnDisk / 1024 / 1024 / 1024).toFixed(3) + "GB");
    });
}

function __showCollections() {
    var reply = db._raw({listCollections: 1, nameOnly: true, authorizedCollections: true});
    if (!reply.ok) {
        if (reply.code !== 13) throw __failure(reply, "listCollections failed: ");
        print("Warning: unable to run listCollections, attempting to approximate collection names by parsing connectionStatus");
        return;
    }
    var names = new DBCommandCursor(db.getCollection("$cmd.listCollections"), reply).map(function(each) { return each.name; });
    names.sort().forEach(function(name) { print(name); });
}

function __showLog(name) {
    var reply = db._admin()._raw({getLog: name || "global"});
    if (!reply.ok) {
        print("Error while trying to show " + (name || "global") + " log: " + reply.errmsg);
        return;
    }
    reply.log.forEach(function(line) { print(line); });
}

function __show(what, name) {
    switch (what) {
    case "dbs":
    case "databases":
        return __showDatabases();
    case "collections":
    case "tables":
        return __showCollections();
    case "users":
        return db.getUsers().forEach(function(user) { printjson(user); });
    case "roles":
        return db.getRoles({showBuiltinRoles: true}).forEach(function(role) { printjson(role); });
    case "log":
        return __showLog(name);
    case "logs":
        return db._admin()._must({getLog: "*"}, "").names.forEach(function(each) { print(each); });
    case "startupWarnings":
        return __showWarnings();
    }
    throw Error("don't know how to show [" + what + "]");
}

function __showWarnings() {
    var reply = db._admin()._raw({getLog: "startupWarnings"});
    if (!reply.ok || !reply.log || reply.log.length === 0) return;
    print("---");
    print("The server generated these startup warnings when booting: ");
    reply.log.forEach(function(line) {
        try {
            var entry = JSON.parse(line);
            print("        " + entry.t.$date + ": " + entry.msg);
        } catch (error) {
            print("        " + line);
        }
    });
    print("---");
}

function __help() {
    print("\tdb.help()                    help on db methods");
    print("\tdb.mycoll.help()             help on collection methods");
    print("\tsh.help()                    sharding helpers");
    print("\trs.help()                    replica set helpers");
    print("\thelp admin                   administrative help");
    print("\thelp connect                 connecting to a db help");
    print("\thelp keys                    key shortcuts");
    print("\thelp misc                    misc things to know");
    print("\thelp mr                      mapreduce");
    print("");
    print("\tshow dbs                     show database names");
    print("\tshow collections             show collections in current database");
    print("\tshow users                   show users in current database");
    print("\tshow logs                    show the accessible logger names");
    print("\tshow log [name]              prints out the last segment of log in memory, 'global' is default");
    print("\tuse <db_name>                set current database");
    print("\tdb.mycoll.find()             list objects in collection mycoll");
    print("\tdb.mycoll.find( { a : 1 } )  list objects in mycoll where a == 1");
    print("\tit                           result of the last line evaluated; use to further iterate");
    print("\tDBQuery.shellBatchSize = x   set default number of items to display on shell");
    print("\texit                         quit the mongo shell");
}

function __helpOn(title, prototype) {
    print(title);
    Object.getOwnPropertyNames(prototype).filter(function(name) {
        return name[0] !== "_" && typeof prototype[name] === "function" && name !== "constructor";
    }).sort().forEach(function(name) { print("\t" + name + "()"); });
}
DB.prototype.help = function() { __helpOn("DB methods:", DB.prototype); };
DBCollection.prototype.help = function() { __helpOn("DBCollection help", DBCollection.prototype); };
DBQuery.prototype.help = function() { __helpOn("find(<predicate>, <projection>) modifiers", DBQuery.prototype); };
