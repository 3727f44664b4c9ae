// What collections can do, the same in both shells.

DBCollection.prototype.getName = function() { return this._shortName; };
DBCollection.prototype.getFullName = function() { return this._fullName; };
DBCollection.prototype.renameCollection = function(to, dropTarget) {
    if (arguments.length === 0) throw Error("Missing required argument: newName");
    var command = {renameCollection: this._fullName, to: this._db._name + "." + to, dropTarget: Boolean(dropTarget)};
    return this._db._admin()._result(command);
};
DBCollection.prototype.toString = function() { return this._fullName; };
DBCollection.prototype.getDB = function() { return this._db; };
DBCollection.prototype.getMongo = function() { return this._db._mongo; };
DBCollection.prototype.getCollection = function(name) { return __collection(this._db, this._shortName + "." + name); };

DBCollection.prototype.runCommand = function(command, more) {
    if (typeof command === "string") {
        var named = {};
        named[command] = this._shortName;
        command = Object.assign(named, more || {});
    }
    return this._db.runCommand(command);
};

// -- reading --------------------------------------------------------------------------------------

DBCollection.prototype._filter = function(filter) {
    if (filter === undefined || filter === null) return {};
    if (filter instanceof ObjectId || typeof filter === "string" || typeof filter === "number") return {_id: filter};
    if (typeof filter === "function") return {$where: filter};
    return filter;
};

DBCollection.prototype.find = function(filter, projection, limit, skip, batch) {
    var options = {};
    if (typeof limit === "number") options.limit = limit;
    if (typeof skip === "number") options.skip = skip;
    if (typeof limit === "object" && limit) options = limit;
    return new DBQuery(this, this._filter(filter), projection, options);
};

DBCollection.prototype.findOne = function(filter, projection, options) {
    var cursor = this.find(filter, projection);
    if (options && typeof options === "object") Object.assign(cursor._options, options);
    cursor._options.limit = -1;
    return cursor.hasNext() ? cursor.next() : null;
};

DBCollection.prototype.count = function(filter, options) {
    var command = Object.assign({count: this._shortName, query: this._filter(filter)}, options || {});
    return this._db._must(command, "count failed: ").n;
};

DBCollection.prototype.countDocuments = function(filter, options) {
    var pipeline = [{$match: this._filter(filter)}];
    if (options && options.skip) pipeline.push({$skip: options.skip});
    if (options && options.limit) pipeline.push({$limit: options.limit});
    pipeline.push({$group: {_id: null, n: {$sum: 1}}});
    var found = this.aggregate(pipeline).toArray();
    return found.length ? found[0].n : 0;
};

DBCollection.prototype.estimatedDocumentCount = function() {
    return this._db._must({count: this._shortName}, "count failed: ").n;
};

DBCollection.prototype.distinct = function(field, filter, options) {
    var command = {distinct: this._shortName, key: field, query: filter || {}};
    return this._db._must(Object.assign(command, options || {}), "distinct failed: ").values;
};

DBCollection.prototype.aggregate = function(pipeline, options) {
    if (!Array.isArray(pipeline)) {
        pipeline = Array.from(arguments);
        options = {};
    }
    var command = Object.assign({aggregate: this._shortName, pipeline: pipeline, cursor: {}}, options || {});
    if (command.explain) {
        delete command.cursor;
        return this._db._must({explain: {aggregate: this._shortName, pipeline: pipeline, cursor: {}},
                               verbosity: "queryPlanner"}, "aggregate failed: ");
    }
    return new DBCommandCursor(this, this._db._must(command, "aggregate failed: "));
};

DBCollection.prototype.explain = function(verbosity) {
    var collection = this;
    return {
        find: function(filter, projection) { return collection.find(filter, projection).explain(verbosity); },
        aggregate: function(pipeline) { return collection.aggregate(pipeline, {explain: true}); }
    };
};

// -- writing --------------------------------------------------------------------------------------

DBCollection.prototype._withIds = function(documents) {
    return documents.map(function(each) {
        if (each === undefined || each === null || typeof each !== "object") throw Error("no object passed to insert!");
        return each._id === undefined ? Object.assign({_id: ObjectId()}, each) : each;
    });
};

DBCollection.prototype._insert = function(documents, ordered) {
    return this._db._raw({insert: this._shortName, documents: documents, ordered: ordered !== false});
};

DBCollection.prototype._update = function(filter, change, multi, options) {
    var part = {q: filter, u: change, multi: !!multi, upsert: !!(options && options.upsert)};
    if (options && options.arrayFilters) part.arrayFilters = options.arrayFilters;
    if (options && options.hint) part.hint = options.hint;
    return this._db._raw({update: this._shortName, updates: [part], ordered: true});
};

DBCollection.prototype._delete = function(filter, limit) {
    return this._db._raw({delete: this._shortName, deletes: [{q: filter, limit: limit}], ordered: true});
};

DBCollection.prototype._checkOperators = function(change, name) {
    if (Array.isArray(change)) return;
    var keys = Object.keys(change || {});
    if (keys.length === 0 || keys[0][0] !== "$") {
        throw __argumentError("the update operation document must contain atomic operators");
    }
};

DBCollection.prototype._checkReplacement = function(document) {
    var keys = Object.keys(document || {});
    if (keys.length > 0 && keys[0][0] === "$") {
        throw __argumentError("the replace operation document must not contain atomic operators");
    }
};

DBCollection.prototype.findAndModify = function(args) {
    var command = Object.assign({findAndModify: this._shortName}, args);
    return this._db._must(command, "findAndModifyFailed failed: ").value;
};

DBCollection.prototype._findOneAnd = function(filter, rest, options) {
    var args = Object.assign({query: filter || {}}, rest);
    options = options || {};
    if (options.sort) args.sort = options.sort;
    if (options.projection) args.fields = options.projection;
    if (options.upsert) args.upsert = true;
    if (options.returnNewDocument || options.returnDocument === "after") args.new = true;
    return this.findAndModify(args);
};
DBCollection.prototype.findOneAndUpdate = function(filter, change, options) {
    this._checkOperators(change, "findOneAndUpdate");
    return this._findOneAnd(filter, {update: change}, options);
};
DBCollection.prototype.findOneAndDelete = function(filter, options) {
    return this._findOneAnd(filter, {remove: true}, options);
};

// -- indexes and the collection itself ------------------------------------------------------------

DBCollection.prototype._indexName = function(keys) {
    return Object.keys(keys).map(function(field) { return field + "_" + keys[field]; }).join("_");
};

DBCollection.prototype._indexSpec = function(keys, options) {
    var spec = {key: keys, name: this._indexName(keys)};
    if (typeof options === "string") spec.name = options;
    else if (typeof options === "boolean") spec.unique = options;
    else Object.assign(spec, options || {});
    return spec;
};

DBCollection.prototype.getIndexes = function() {
    var reply = this._db._raw({listIndexes: this._shortName});
    if (!reply.ok) {
        if (reply.code === 26 && !__throwsForMissing) return [];
        throw __failure(reply, "listIndexes failed: ");
    }
    return new DBCommandCursor(this, reply).toArray();
};

DBCollection.prototype.dropIndex = function(index) {
    return this._db._result({dropIndexes: this._shortName, index: index});
};
DBCollection.prototype.dropIndexes = function(indexes) {
    return this._db._result({dropIndexes: this._shortName, index: indexes === undefined ? "*" : indexes});
};

DBCollection.prototype.stats = function(scale) {
    var command = {collStats: this._shortName};
    if (typeof scale === "number") command.scale = scale;
    return this._db._result(command);
};
DBCollection.prototype.validate = function(full) {
    var reply = this._db._result({validate: this._shortName, full: full === true || !!(full && full.full)});
    if (reply.valid === undefined) reply.valid = false;
    return reply;
};
