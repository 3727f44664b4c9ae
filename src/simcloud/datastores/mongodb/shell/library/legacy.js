// The old shell's own ways: replies come back even when they say no, results print themselves.

var __throwsForMissing = false;

function _getErrorWithCode(codeOrReply, message) {
    var error = new Error(message);
    if (codeOrReply && codeOrReply.code !== undefined) error.code = codeOrReply.code;
    return error;
}
function __failure(reply, prefix) {
    var joined = prefix || "";
    var whole = /(error|failed): ?$|^listDatabases|config: $/.test(joined);
    return _getErrorWithCode(reply, joined + (whole ? tojson(reply) : reply.errmsg));
}
function __argumentError(message) { return Error(message); }
function __exhausted() { throw Error("error hasNext: false"); }

DB.prototype._result = function(command) { return this._raw(command); };
DB.prototype.tojson = function() { return this._name; };
DBCollection.prototype.tojson = function() { return this._fullName; };
DB.prototype.shellPrint = function() { print(this._name); };
DBCollection.prototype.shellPrint = function() { print(this._fullName); };
Mongo.prototype.tojson = Mongo.prototype.toString;
Mongo.prototype.shellPrint = function() { print(this.toString()); };

__Cursor.prototype.shellPrint = function() {
    try {
        var n = 0;
        while (n < DBQuery.shellBatchSize && this.hasNext()) {
            var each = this.next();
            print(this._pretty ? tojson(each) : tojson(each, "", true));
            n++;
        }
        if (this.hasNext()) {
            print('Type "it" for more');
            ___it___ = this;
        } else {
            ___it___ = null;
        }
    } catch (error) {
        print(error);
    }
};
__Cursor.prototype.toString = function() { return "DBQuery: " + this._collection._fullName + " -> " + tojson(this._filter || {}); };

function printjson(value) { print(tojson(value)); }
function printjsononeline(value) { print(tojsononeline(value)); }
function version() { return "4.4.6"; }
function gc() {}
var console = {log: print, error: print, warn: print, info: print};

// -- results of writing ---------------------------------------------------------------------------

function WriteResult(fields) { Object.assign(this, fields); }
WriteResult.prototype.tojson = function(indent, nolint) {
    return this.__name() + "(" + tojson(Object.assign({}, this), indent, nolint) + ")";
};
WriteResult.prototype.__name = function() { return "WriteResult"; };
WriteResult.prototype.toString = function() { return this.tojson(); };
WriteResult.prototype.shellPrint = function() { print(this.tojson()); };
WriteResult.prototype.hasWriteError = function() { return this.writeError !== undefined; };
WriteResult.prototype.getWriteError = function() { return this.writeError; };
WriteResult.prototype.hasWriteConcernError = function() { return false; };

function __Named(name) {
    function Made(fields) { Object.assign(this, fields); }
    Made.prototype = Object.create(WriteResult.prototype);
    Made.prototype.constructor = Made;
    Made.prototype.__name = function() { return name; };
    return Made;
}
var BulkWriteResult = __Named("BulkWriteResult");
var WriteError = __Named("WriteError");
var WriteCommandError = __Named("WriteCommandError");
var BulkWriteError = __Named("BulkWriteError");
[WriteResult, WriteError, WriteCommandError, BulkWriteError, BulkWriteResult].forEach(function(kind) {
    __hide(kind.prototype);
});

function __writeProblem(reply, operation) {
    if (!reply.ok) return new WriteCommandError(reply);
    if (!reply.writeErrors) return null;
    var first = reply.writeErrors[0];
    return new WriteError({index: first.index, code: first.code, errmsg: first.errmsg, op: operation});
}
function __checked(reply, operation) {
    var problem = __writeProblem(reply, operation);
    if (problem !== null) throw problem;
    return reply;
}
function __shortResult(reply, fields) {
    if (!reply.ok) return new WriteCommandError(reply);
    if (reply.writeErrors) {
        var first = reply.writeErrors[0];
        fields.writeError = {code: first.code, errmsg: first.errmsg};
    }
    return new WriteResult(fields);
}

DBCollection.prototype.insert = function(documents, options) {
    if (documents === undefined || documents === null) throw Error("no object passed to insert!");
    var many = Array.isArray(documents);
    var full = this._withIds(many ? documents : [documents]);
    var reply = this._insert(full, !(options && options.ordered === false));
    if (!many) return __shortResult(reply, {nInserted: reply.n || 0});
    if (!reply.ok) return new WriteCommandError(reply);
    var errors = (reply.writeErrors || []).map(function(each) { return Object.assign({op: full[each.index]}, each); });
    var fields = {writeErrors: errors, writeConcernErrors: [], nInserted: reply.n, nUpserted: 0, nMatched: 0,
                  nModified: 0, nRemoved: 0, upserted: []};
    if (errors.length) return new BulkWriteError(fields);
    return new BulkWriteResult(fields);
};
DBCollection.prototype.save = function(document) {
    if (document._id === undefined) return this.insert(document);
    return this.update({_id: document._id}, document, {upsert: true});
};
DBCollection.prototype.update = function(filter, change, options, multi) {
    if (filter === undefined) throw Error("need a query");
    if (change === undefined) throw Error("need an object");
    if (typeof options === "boolean") options = {upsert: options, multi: multi};
    var reply = this._update(filter, change, options && options.multi, options);
    var upserted = reply.upserted || [];
    var fields = {nMatched: (reply.n || 0) - upserted.length, nUpserted: upserted.length, nModified: reply.nModified || 0};
    if (upserted.length) fields._id = upserted[0]._id;
    return __shortResult(reply, fields);
};
DBCollection.prototype.remove = function(filter, justOne) {
    if (filter === undefined) throw Error("remove needs a query");
    if (typeof justOne === "object") justOne = justOne.justOne;
    var reply = this._delete(this._filter(filter), justOne ? 1 : 0);
    return __shortResult(reply, {nRemoved: reply.n || 0});
};
DBCollection.prototype.insertOne = function(document) {
    var full = this._withIds([document]);
    __checked(this._insert(full), full[0]);
    return {acknowledged: true, insertedId: full[0]._id};
};
DBCollection.prototype.insertMany = function(documents, options) {
    if (!Array.isArray(documents)) throw Error("insertMany expects an array of documents");
    var full = this._withIds(documents);
    var reply = this._insert(full, options && options.ordered);
    if (!reply.ok) throw new WriteCommandError(reply);
    if (reply.writeErrors) {
        throw new BulkWriteError({writeErrors: reply.writeErrors, writeConcernErrors: [], nInserted: reply.n, nUpserted: 0,
                                  nMatched: 0, nModified: 0, nRemoved: 0, upserted: []});
    }
    return {acknowledged: true, insertedIds: full.map(function(each) { return each._id; })};
};
DBCollection.prototype._updated = function(reply, change) {
    __checked(reply, change);
    var upserted = reply.upserted || [];
    var result = {acknowledged: true, matchedCount: reply.n - upserted.length, modifiedCount: reply.nModified};
    if (upserted.length) result.upsertedId = upserted[0]._id;
    return result;
};
DBCollection.prototype.updateOne = function(filter, change, options) {
    this._checkOperators(change);
    return this._updated(this._update(filter, change, false, options), change);
};
DBCollection.prototype.updateMany = function(filter, change, options) {
    this._checkOperators(change);
    return this._updated(this._update(filter, change, true, options), change);
};
DBCollection.prototype.replaceOne = function(filter, document, options) {
    this._checkReplacement(document);
    return this._updated(this._update(filter, document, false, options), document);
};
DBCollection.prototype.deleteOne = function(filter) {
    return {acknowledged: true, deletedCount: __checked(this._delete(filter, 1), filter).n};
};
DBCollection.prototype.deleteMany = function(filter) {
    return {acknowledged: true, deletedCount: __checked(this._delete(filter, 0), filter).n};
};

DBCollection.prototype.createIndex = function(keys, options) { return this.createIndexes([keys], options); };
DBCollection.prototype.ensureIndex = DBCollection.prototype.createIndex;
DBCollection.prototype.createIndexes = function(many, options) {
    var collection = this;
    var indexes = many.map(function(keys) { return collection._indexSpec(keys, options); });
    return this._db._raw({createIndexes: this._shortName, indexes: indexes});
};
DBCollection.prototype.drop = function() {
    var reply = this._db._raw({drop: this._shortName});
    if (reply.ok) return true;
    if (reply.errmsg === "ns not found") return false;
    throw __failure(reply, "drop failed: ");
};
DB.prototype.dropDatabase = function() { return this._raw({dropDatabase: 1}); };
