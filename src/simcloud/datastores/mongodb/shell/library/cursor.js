// Cursors: of queries, which can still be shaped until they are read, and of commands that answer with one.

function __Cursor(collection) {
    this._collection = collection;
    this._batch = null;
    this._id = 0;
    this._pretty = false;
}

__Cursor.prototype._take = function(reply) {
    this._batch = reply.cursor.firstBatch || reply.cursor.nextBatch;
    this._id = reply.cursor.id;
    this._at = 0;
};

__Cursor.prototype._start = function() {
    this._take(this._collection._db._must(this._command(), "error: "));
};

__Cursor.prototype.hasNext = function() {
    if (this._batch === null) this._start();
    while (this._at >= this._batch.length) {
        if (this._id == 0) return false;
        var more = {getMore: NumberLong(this._id), collection: this._collection._shortName};
        if (this._batchSize) more.batchSize = this._batchSize;
        this._take(this._collection._db._must(more, "getMore command failed: "));
    }
    return true;
};

__Cursor.prototype.next = function() {
    if (!this.hasNext()) __exhausted();
    return this._batch[this._at++];
};

__Cursor.prototype.toArray = function() {
    if (this._all) return this._all;
    var all = [];
    while (this.hasNext()) {
        do all.push(this._batch[this._at++]); while (this._at < this._batch.length);
    }
    this._all = all;
    return all;
};

__Cursor.prototype.forEach = function(visit) {
    while (this.hasNext()) {
        do visit(this._batch[this._at++]); while (this._at < this._batch.length);
    }
};

__Cursor.prototype.map = function(change) {
    var all = [];
    while (this.hasNext()) {
        do all.push(change(this._batch[this._at++])); while (this._at < this._batch.length);
    }
    return all;
};

__Cursor.prototype.itcount = function() {
    var n = 0;
    for (; this.hasNext(); this._at = this._batch.length) n += this._batch.length - this._at;
    return n;
};

__Cursor.prototype.close = function() {
    if (this._id != 0) {
        this._collection._db._raw({killCursors: this._collection._shortName, cursors: [NumberLong(this._id)]});
        this._id = 0;
    }
    this._batch = this._batch || [];
    this._at = this._batch.length;
};

__Cursor.prototype.pretty = function() { this._pretty = true; return this; };

// -- queries --------------------------------------------------------------------------------------

function DBQuery(collection, filter, projection, options) {
    __Cursor.call(this, collection);
    this._filter = filter || {};
    this._projection = projection;
    this._options = Object.assign({}, options || {});
}
DBQuery.prototype = Object.create(__Cursor.prototype);
DBQuery.prototype.constructor = DBQuery;
DBQuery.shellBatchSize = 20;

DBQuery.prototype._command = function() {
    var command = {find: this._collection._shortName, filter: this._filter};
    var o = this._options;
    if (o.sort) command.sort = o.sort;
    if (this._projection && Object.keys(this._projection).length > 0) command.projection = this._projection;
    if (o.hint) command.hint = o.hint;
    if (o.skip) command.skip = o.skip;
    if (o.limit) {
        command.limit = Math.abs(o.limit);
        if (o.limit < 0) command.singleBatch = true;
    }
    if (this._batchSize) command.batchSize = this._batchSize;
    if (o.maxTimeMS) command.maxTimeMS = o.maxTimeMS;
    return command;
};

DBQuery.prototype._shape = function(name, value) {
    if (this._batch !== null) throw Error("query already executed");
    this._options[name] = value;
    return this;
};

DBQuery.prototype.sort = function(order) { return this._shape("sort", order); };
DBQuery.prototype.limit = function(count) { return this._shape("limit", count); };
DBQuery.prototype.skip = function(count) { return this._shape("skip", count); };
DBQuery.prototype.hint = function(index) { return this._shape("hint", index); };
DBQuery.prototype.maxTimeMS = function(limit) { return this._shape("maxTimeMS", limit); };
DBQuery.prototype.batchSize = function(count) { this._batchSize = count; return this; };
DBQuery.prototype.projection = function(fields) { this._projection = fields; return this; };

DBQuery.prototype.count = function(applySkipLimit) {
    var command = {count: this._collection._shortName, query: this._filter};
    if (applySkipLimit) {
        if (this._options.limit) command.limit = this._options.limit;
        if (this._options.skip) command.skip = this._options.skip;
    }
    return this._collection._db._must(command, "count failed: ").n;
};

DBQuery.prototype.size = function() { return this.count(true); };

DBQuery.prototype.explain = function(verbosity) {
    if (verbosity === undefined || verbosity === false) verbosity = "queryPlanner";
    if (verbosity === true) verbosity = "allPlansExecution";
    return this._collection._db._must({explain: this._command(), verbosity: verbosity}, "explain failed: ");
};

// -- commands that answer with a cursor -----------------------------------------------------------

function DBCommandCursor(collection, reply) {
    __Cursor.call(this, collection);
    this._take(reply);
}
DBCommandCursor.prototype = Object.create(__Cursor.prototype);
DBCommandCursor.prototype.constructor = DBCommandCursor;

var ___it___ = null;

function __printSelf(value) { value.shellPrint(); }
